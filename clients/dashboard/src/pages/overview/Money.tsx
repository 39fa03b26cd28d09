import type { OverviewState } from '../../api/types.js'
import { sumText } from '../../text/amount.js'
import { marketText } from '../../text/names.js'
import { Amount } from '../../ui/values/Amount.js'
import { Section } from '../../ui/PageHead.js'
import { Table, type Column } from '../../ui/tables/Table.js'

type MarketTotal = OverviewState['money']['markets'][number]

const columns: Column<MarketTotal>[] = [
  { name: 'Market', cell: (market) => <span title={market.chain}>{marketText(market)}</span> },
  {
    name: 'Deposited',
    align: 'right',
    cell: ({ deposited, asset }) => <Amount amount={deposited} asset={asset} />,
  },
]

/** The lent money by market. */
export function Money({ markets }: OverviewState['money']) {
  return (
    <Section title="Money lent" action={<Totals markets={markets} />}>
      {markets.length > 0 ? (
        <Table
          label="Money lent"
          columns={columns}
          rows={markets}
          keyOf={({ chain, protocol, asset }) => `${chain} ${protocol} ${asset}`}
        />
      ) : (
        <p className="border-y border-line py-4 text-sm text-ink-3">No money is lent.</p>
      )}
      <p className="mt-2 text-xs text-ink-3">
        Deposits minus withdrawals, without interest and without wallet balances.
      </p>
    </Section>
  )
}

function Totals({ markets }: { markets: readonly MarketTotal[] }) {
  const assets = [...new Set(markets.map(({ asset }) => asset))]
  return (
    <span className="flex flex-wrap justify-end gap-x-4 text-sm text-ink-2">
      {assets.map((asset) => {
        const own = markets.filter((market) => market.asset === asset)
        return <Amount key={asset} amount={sumText(own.map((o) => o.deposited))} asset={asset} />
      })}
    </span>
  )
}
