import { Link } from '@tanstack/react-router'
import type { RequestEntry } from '../../api/types.js'
import { shorten } from '../../text/shorten.js'
import { durationText } from '../../text/time.js'
import { State, type StateName } from '../../ui/feedback/State.js'
import { rowLink, timeColumn, type Column } from '../../ui/tables/Table.js'

/** 499: the client disconnected before the response. */
function stateOf(status: number): StateName {
  if (status === 499) return 'stopped'
  return status >= 400 ? 'failed' : 'done'
}

export const StatusState = ({ status }: { status: number }) => (
  <State state={stateOf(status)}>{String(status)}</State>
)

/** Table columns of requests. A row opens the facts and keeps the filters. */
export const requestColumns: Column<RequestEntry>[] = [
  {
    name: 'Status',
    width: 'w-20 max-sm:w-16',
    cell: ({ status }) => <StatusState status={status} />,
  },
  {
    name: 'Request',
    cell: ({ id, method, path }) => (
      <Link
        to="/requests"
        search={(search) => ({ ...search, open: id })}
        resetScroll={false}
        title={`${method} ${path}`}
        {...rowLink}
      >
        <span className="font-mono text-xs">
          <span className="text-ink-3">{method}</span> {path}
        </span>
      </Link>
    ),
  },
  {
    name: 'Code',
    width: 'w-52',
    from: 'md',
    cell: ({ code }) =>
      code && (
        <span title={code} className="font-mono text-xs text-ink-2">
          {code}
        </span>
      ),
  },
  {
    name: 'Id',
    width: 'w-36',
    from: 'lg',
    cell: ({ id }) => (
      <span title={id} className="font-mono text-xs text-ink-3">
        {shorten(id)}
      </span>
    ),
  },
  { name: 'Took', width: 'w-20', align: 'right', from: 'sm', cell: ({ ms }) => durationText(ms) },
  {
    name: 'Credits',
    width: 'w-20',
    align: 'right',
    from: 'sm',
    cell: ({ credits }) => credits.toLocaleString(),
  },
  timeColumn('When', ({ at }) => at, { width: 'w-24' }),
]
