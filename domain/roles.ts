/** What somebody may be in an account, the mightiest first. */
export const roles = ['owner', 'developer', 'viewer'] as const
export type Role = (typeof roles)[number]

/** What a member may do by the endpoints that keys open, too. */
export const scopesOf: Record<Role, readonly ('read' | 'write')[]> = {
  owner: ['read', 'write'],
  developer: ['read', 'write'],
  viewer: ['read'],
}
