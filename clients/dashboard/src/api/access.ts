import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from './queries.js'
import type { Role } from './types.js'

/** What only some roles may do: `write` wallets, intents, keys and endpoints, and `manage` the members. */
type Act = 'write' | 'manage'

const allowed: Record<Act, readonly Role[]> = { write: ['owner', 'developer'], manage: ['owner'] }

/** Whether the role of the user allows an act. The API checks it as well. */
export function useMay(act: Act): boolean {
  const { data } = useQuery(sessionQuery)
  return data !== undefined && allowed[act].includes(data.role)
}
