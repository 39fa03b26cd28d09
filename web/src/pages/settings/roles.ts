import type { Role } from '../../api/types.js'

/** What each role may do, as one chooses it for a member. */
export const roleChoices: { value: Role; label: string }[] = [
  { value: 'developer', label: 'Developer: reads, writes, makes keys' },
  { value: 'viewer', label: 'Viewer: reads' },
  { value: 'owner', label: 'Owner: all of it, and members' },
]
