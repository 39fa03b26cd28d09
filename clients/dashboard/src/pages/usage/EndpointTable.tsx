import { dayText } from '../../text/time.js'
import { Table, type Column } from '../../ui/tables/Table.js'
import type { EndpointUse } from './days.js'

const columns: Column<EndpointUse>[] = [
  {
    name: 'Endpoint',
    cell: ({ endpoint }) => (
      <span title={endpoint} className="font-mono text-xs">
        {endpoint}
      </span>
    ),
  },
  {
    name: 'Requests',
    align: 'right',
    width: 'w-24 max-sm:w-20',
    cell: ({ requests }) => requests.toLocaleString(),
  },
  {
    name: 'Failed',
    align: 'right',
    width: 'w-24',
    from: 'sm',
    cell: ({ errors }) => (
      <span className={errors > 0 ? 'text-failed' : 'text-ink-3'}>{errors.toLocaleString()}</span>
    ),
  },
  {
    name: 'Credits',
    align: 'right',
    width: 'w-24 max-sm:w-16',
    cell: ({ credits }) => credits.toLocaleString(),
  },
]

type Props = { rows: readonly EndpointUse[]; day: string | undefined }

/** Requests and credits by endpoint, for one day or for the whole period. */
export function EndpointTable({ rows, day }: Props) {
  const when = day ? `on ${dayText(day)} (UTC)` : 'in this period'
  return (
    <div className="mt-6">
      <h3 className="mb-1 text-sm">By endpoint, {when}</h3>
      {rows.length > 0 ? (
        <Table
          label="By endpoint"
          columns={columns}
          rows={rows}
          keyOf={({ endpoint }) => endpoint}
        />
      ) : (
        <p className="border-y border-line py-4 text-sm text-ink-3">No requests {when}.</p>
      )}
    </div>
  )
}
