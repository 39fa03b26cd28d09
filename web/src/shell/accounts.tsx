import { useQuery } from '@tanstack/react-query'
import { Building2 } from 'lucide-react'
import { post } from '../api/call.js'
import { queryClient } from '../api/client.js'
import { ownAccountsQuery } from '../api/queries.js'
import type { Entry } from '../ui/forms/Menu.js'

/** The accounts that one can go to; none for whoever has only one. */
export function useAccountEntries(): Entry[] {
  const { data } = useQuery(ownAccountsQuery)
  if (!data || data.data.length < 2) return []
  return data.data.map(({ id, name, role, isCurrent }) => ({
    key: id,
    label: `${name}, ${role}`,
    icon: <Building2 aria-hidden className="size-4" />,
    isChosen: isCurrent,
    onSelect: () => void (isCurrent || switchTo(id)),
  }))
}

/** The page begins anew: nothing of the one account is left, or asked for, where the other one's should be. */
async function switchTo(accountId: string): Promise<void> {
  await queryClient.cancelQueries()
  await post('/session/switch', { accountId })
  location.assign('/dashboard')
}
