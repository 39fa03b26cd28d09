import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { sessionQuery } from '../../api/queries.js'
import type { System } from '../../api/types.js'
import { shorten } from '../../text/shorten.js'
import { Id } from '../../ui/values/Id.js'
import { Section } from '../../ui/PageHead.js'
import { Table, type Column } from '../../ui/tables/Table.js'
import { Elapsed } from '../../ui/values/Time.js'
import { WorkflowLink } from '../../ui/values/WorkflowLink.js'

type LateIntent = System['late'][number]

/** @param account - The account of the operator. Intents of other accounts have no link. */
const columnsFor = (account: string | undefined): Column<LateIntent>[] => [
  {
    name: 'Intent',
    cell: ({ intentId, accountId }) =>
      accountId === account ? (
        <Link
          to="/intents/$intentId"
          params={{ intentId }}
          title={intentId}
          className="font-mono text-xs text-accent hover:underline"
        >
          {shorten(intentId)}
        </Link>
      ) : (
        <Id id={intentId} label="intent id" />
      ),
  },
  {
    name: 'Account',
    from: 'md',
    cell: ({ accountId }) => <Id id={accountId} label="account id" />,
  },
  { name: 'Reason', cell: ({ code }) => <code className="text-waiting">{code}</code> },
  {
    name: 'Late for',
    width: 'w-28',
    align: 'right',
    from: 'sm',
    cell: ({ since }) => <Elapsed since={since} />,
  },
  {
    name: 'Temporal',
    width: 'w-28',
    align: 'right',
    cell: ({ intentId }) => <WorkflowLink intentId={intentId} />,
  },
]

/** The intents that are late for the longest time. */
export function Late({ late }: { late: LateIntent[] }) {
  const { data: session } = useQuery(sessionQuery)
  return (
    <Section title="Late intents">
      {late.length === 0 ? (
        <p className="border-y border-line py-3 text-sm text-ink-3">No intent is late.</p>
      ) : (
        <Table
          label="Late intents"
          columns={columnsFor(session?.account.id)}
          rows={late}
          keyOf={({ intentId }) => intentId}
        />
      )}
    </Section>
  )
}
