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
    width: 'w-28',
    cell: (intent) => {
      const { state, word } = faceOf(intent)
      return <State state={state}>{word}</State>
    },
  },
  {
    name: 'Intent',
    width: 'w-34',
    from: 'lg',
    cell: ({ id }) => (
      <span title={id} className="align-middle font-mono text-xs text-ink-2">
        {shorten(id)}
      </span>
    ),
  },
  {
    name: 'Action',
    width: 'w-38 max-sm:w-auto',
    cell: (intent) => (
      <Link to="/intents/$intentId" params={{ intentId: intent.id }} {...rowLink}>
        {verbOf(intent)} <Amount amount={intent.amount} asset={intent.asset} />
      </Link>
    ),
  },
  {
    name: 'User',
    width: 'w-24',
    from: 'md',
    cell: ({ walletId, userId }) => (
      <Link
        to="/wallets/$walletId"
        params={{ walletId }}
        title={userId}
        className="relative z-10 text-ink-2 hover:text-accent hover:underline"
      >
        {userId ?? shorten(walletId)}
      </Link>
    ),
  },
  {
    name: 'Failure',
    width: 'w-38',
    from: 'lg',
    cell: ({ error }) =>
      error && (
        <span title={error.message} className="font-mono text-xs text-ink-2">
          {error.code}
        </span>
      ),
  },
  {
    name: 'Chain',
    from: 'md',
    cell: (intent) => <span title={routeOf(intent)}>{routeOf(intent)}</span>,
  },
  timeColumn('Created', ({ createdAt }) => createdAt, { width: 'w-22 max-sm:w-20' }),
]

/** Table columns of the intents of one wallet. */
export const intentColumnsOfWallet = intentColumns.filter(({ name }) => name !== 'User')
