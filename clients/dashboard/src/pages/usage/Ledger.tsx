import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ledgerQuery } from '../../api/queries.js'
import type { LedgerEntry } from '../../api/types.js'
import { shorten } from '../../text/shorten.js'
import { Empty } from '../../ui/feedback/Empty.js'
import { FileLink } from '../../ui/values/FileLink.js'
import { List } from '../../ui/tables/List.js'
import { Section } from '../../ui/PageHead.js'
import { rowLink, timeColumn, type Column } from '../../ui/tables/Table.js'

const words: Record<LedgerEntry['type'], string> = {
  charge: 'Charged',
  refund: 'Refunded',
  grant: 'Monthly grant',
  lapse: 'Monthly expiry',
  purchase: 'Purchased',
  other: 'Other',
}

/** The month as `2026-11` from `202611`; for a charge its endpoint. */
const detailText = ({ type, detail }: LedgerEntry) =>
  type === 'grant' || type === 'lapse' ? detail?.replace(/^(\d{4})/, '$1-') : detail

const columns: Column<LedgerEntry>[] = [
  {
    name: 'Type',
    width: 'w-36 max-sm:w-28',
    cell: ({ type, requestId }) =>
      requestId.startsWith('req_') ? (
        <Link to="/requests" search={{ requestId, open: requestId }} {...rowLink}>
          {words[type]}
        </Link>
      ) : (
        words[type]
      ),
  },
  {
    name: 'For',
    cell: (entry) => (
      <span title={entry.detail ?? undefined} className="font-mono text-xs text-ink-2">
        {detailText(entry)}
      </span>
    ),
  },
  {
    name: 'Request',
    width: 'w-44',
    from: 'md',
    cell: ({ requestId }) => (
      <span title={requestId} className="font-mono text-xs text-ink-3">
        {shorten(requestId)}
      </span>
    ),
  },
  {
    name: 'Credits',
    align: 'right',
    width: 'w-24 max-sm:w-20',
    cell: ({ delta }) => (
      <span className={delta > 0 ? 'text-done' : ''}>
        {delta > 0 ? '+' : '−'}
        {Math.abs(delta).toLocaleString()}
      </span>
    ),
  },
  timeColumn('When', ({ at }) => at, { from: 'sm' }),
]

/** All changes of the credits, newest first, and as a CSV file. */
export function Ledger() {
  const query = useInfiniteQuery(ledgerQuery)
  return (
    <Section
      title="Ledger"
      action={
        <div className="flex gap-4">
          <FileLink path="/usage/ledger?format=csv">Ledger as CSV</FileLink>
          <FileLink path="/intents.csv">Intents as CSV</FileLink>
        </div>
      }
    >
      <List
        label="Ledger"
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No entries yet">
            Granted, charged, refunded and purchased credits appear here.
          </Empty>
        }
      />
    </Section>
  )
}
