/** Roles of members in an account, the most powerful first. */
export const roles = ['owner', 'developer', 'viewer'] as const
export type Role = (typeof roles)[number]

/** Scopes of a member on the endpoints that accept API keys. */
export const scopesOf: Record<Role, readonly ('read' | 'write')[]> = {
  owner: ['read', 'write'],
  developer: ['read', 'write'],
  viewer: ['read'],
}
