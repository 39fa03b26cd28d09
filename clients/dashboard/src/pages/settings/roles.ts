import type { Role } from '../../api/types.js'

/** The roles of a member and their permissions. */
export const roleChoices: { value: Role; label: string }[] = [
  { value: 'developer', label: 'Developer: reads, writes, creates keys' },
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'owner', label: 'Owner: everything, and members' },
]
