import { useQuery } from '@tanstack/react-query'
import { Building2 } from 'lucide-react'
import { post } from '../api/call.js'
import { forgetUser, queryClient } from '../api/client.js'
import { ownAccountsQuery } from '../api/queries.js'
import type { Entry } from '../ui/forms/Menu.js'

/** Menu entries to switch the account. Empty for a user with one account. */
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

/** Switches the account and reloads the page, so that no data of the previous account remains. */
async function switchTo(accountId: string): Promise<void> {
  await queryClient.cancelQueries()
  await post('/session/switch', { accountId })
  forgetUser()
  location.assign('/dashboard')
}
