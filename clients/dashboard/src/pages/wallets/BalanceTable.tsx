import type { Balances } from '../../api/types.js'
import { usdText } from '../../text/amount.js'
import { chainText } from '../../text/names.js'
import { Amount } from '../../ui/values/Amount.js'
import { Table, type Column } from '../../ui/tables/Table.js'

type BalanceRow = { chain: string; asset: string; amount: string; usd: number | null }

const columns: Column<BalanceRow>[] = [
  { name: 'Chain', cell: ({ chain }) => chainText(chain) },
  {
    name: 'Balance',
    align: 'right',
    cell: ({ amount, asset }) => <Amount amount={amount} asset={asset} />,
  },
  { name: 'Value', align: 'right', width: 'w-32', from: 'sm', cell: ({ usd }) => usdText(usd) },
]

/** The token balances of a wallet. Names the chains that did not answer. */
export function BalanceTable({ balances }: { balances: Balances }) {
  const { chains, unavailable } = balances
  const rows = chains.flatMap(({ chain, tokens }) =>
    tokens.map(({ asset, balanceFormatted, valueUsd }) => ({
      ...{ chain, asset, amount: balanceFormatted, usd: valueUsd },
    })),
  )
  return (
    <>
      {rows.length > 0 ? (
        <Table
          label="Balances"
          columns={columns}
          rows={rows}
          keyOf={({ chain, asset }) => `${chain} ${asset}`}
        />
      ) : (
        <p className="border-y border-line py-4 text-sm text-ink-3">
          No balance on {chains.map(({ chain }) => chainText(chain)).join(', ')}.
        </p>
      )}
      {unavailable && (
        <p role="status" className="mt-2 text-sm text-waiting">
          No answer from {unavailable.map(chainText).join(', ')}: these balances are not shown.
        </p>
      )}
    </>
  )
}
