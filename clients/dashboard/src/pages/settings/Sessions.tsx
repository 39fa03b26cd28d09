import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { post } from '../../api/call.js'
import { forgetUser, queryClient } from '../../api/client.js'
import { sessionsQuery } from '../../api/queries.js'
import type { SessionEntry } from '../../api/types.js'
import { Button } from '../../ui/forms/Button.js'
import { List } from '../../ui/tables/List.js'
import { Section } from '../../ui/PageHead.js'
import { timeColumn, type Column } from '../../ui/tables/Table.js'

/** The sessions of the user, each with a button to end it. */
export function Sessions() {
  const query = useInfiniteQuery(sessionsQuery)
  const navigate = useNavigate()
  const endAll = async () => {
    await post('/session/end-all')
    forgetUser()
    await navigate({ to: '/sign-in', search: {} })
  }
  return (
    <Section
      title="Sessions"
      action={<Button onClick={() => void endAll()}>Sign out everywhere</Button>}
    >
      <List label="Sessions" query={query} columns={columns} keyOf={({ id }) => id} empty={null} />
    </Section>
  )
}

const columns: Column<SessionEntry>[] = [
  {
    name: 'Browser',
    cell: ({ agent, isCurrent }) => (
      <span title={agent}>{isCurrent ? 'This browser' : browserOf(agent)}</span>
    ),
  },
  { name: 'Address', width: 'w-36', from: 'sm', cell: ({ address }) => address },
  timeColumn('Last seen', ({ lastSeenAt }) => lastSeenAt),
  timeColumn('Expires', ({ expiresAt }) => expiresAt, { from: 'sm' }),
  {
    name: '',
    width: 'w-24',
    align: 'right',
    cell: (entry) => !entry.isCurrent && <End id={entry.id} />,
  },
]

const browsers = ['Edg', 'Firefox', 'Chrome', 'Safari', 'curl'] as const

/** The name of the browser from its user agent. */
const browserOf = (agent: string) =>
  browsers.find((name) => agent.includes(name))?.replace('Edg', 'Edge') ?? 'Other client'

function End({ id }: { id: string }) {
  const end = useMutation({
    mutationFn: () => post(`/sessions/${id}/end`),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['sessions'] }),
  })
  return (
    <Button look="quiet" isBusy={end.isPending} onClick={() => end.mutate()}>
      Sign out
    </Button>
  )
}
