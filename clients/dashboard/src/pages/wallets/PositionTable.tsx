import type { Positions } from '../../api/types.js'
import { percentText } from '../../text/amount.js'
import { chainText, marketText } from '../../text/names.js'
import { Amount } from '../../ui/values/Amount.js'
import { Table, type Column } from '../../ui/tables/Table.js'

type PositionRow = Positions['positions'][number]

const columns: Column<PositionRow>[] = [
  { name: 'Market', cell: marketText },
  { name: 'Rate', align: 'right', width: 'w-24', from: 'sm', cell: ({ apy }) => percentText(apy) },
  {
    name: 'Deposited',
    align: 'right',
    from: 'md',
    cell: ({ deposited, asset }) => <Amount amount={deposited} asset={asset} />,
  },
  {
    name: 'Earned',
    align: 'right',
    from: 'sm',
    cell: ({ earned, asset }) => (
      <Amount
        amount={earned}
        asset={asset}
        className={earned.startsWith('-') ? 'text-failed' : 'text-done'}
      />
    ),
  },
  {
    name: 'Current value',
    align: 'right',
    cell: ({ currentValue, asset }) => <Amount amount={currentValue} asset={asset} />,
  },
]

/** The positions of a wallet and their earnings. */
export function PositionTable({ positions: { positions, unavailable } }: { positions: Positions }) {
  return (
    <>
      {positions.length > 0 ? (
        <Table
          label="Positions"
          columns={columns}
          rows={positions}
          keyOf={({ chain, protocol, asset }) => `${chain} ${protocol} ${asset}`}
        />
      ) : (
        <p className="border-y border-line py-4 text-sm text-ink-3">No positions.</p>
      )}
      {unavailable && (
        <p role="status" className="mt-2 text-sm text-waiting">
          No answer from {unavailable.map(chainText).join(', ')}.
        </p>
      )}
    </>
  )
}
