import { Link } from '@tanstack/react-router'
import type { Intent } from '../../api/types.js'
import { shorten } from '../../text/shorten.js'
import { Amount } from '../../ui/values/Amount.js'
import { State } from '../../ui/feedback/State.js'
import { rowLink, timeColumn, type Column } from '../../ui/tables/Table.js'
import { faceOf, routeOf, verbOf } from './words.js'

/** Table columns of intents. */
export const intentColumns: Column<Intent>[] = [
  {
    name: 'State',
    width: 'w-32 max-sm:w-28',
    cell: (intent) => {
      const { state, word } = faceOf(intent)
      return <State state={state}>{word}</State>
    },
  },
  {
    name: 'Intent',
    width: 'w-52',
    from: 'sm',
    cell: ({ id }) => (
      <span title={id} className="align-middle font-mono text-xs text-ink-2">
        {shorten(id)}
      </span>
    ),
  },
  {
    name: 'Action',
    cell: (intent) => (
      <Link to="/intents/$intentId" params={{ intentId: intent.id }} {...rowLink}>
        {verbOf(intent)} <Amount amount={intent.amount} asset={intent.asset} />
      </Link>
    ),
  },
  {
    name: 'Chain',
    from: 'md',
    cell: (intent) => <span title={routeOf(intent)}>{routeOf(intent)}</span>,
  },
  timeColumn('Created', ({ createdAt }) => createdAt, { width: 'w-28 max-sm:w-24' }),
]
