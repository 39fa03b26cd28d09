import type { Yields } from '../../api/types.js'
import { percentText } from '../../text/amount.js'
import { chainText, marketText, namesIn } from '../../text/names.js'
import { Sparkline } from '../../ui/charts/Sparkline.js'
import { Table, type Column } from '../../ui/tables/Table.js'
import { marketKey, type Series } from './series.js'

type RateRow = Yields['rates'][number] & { isBest: boolean; past: (number | null)[] }

const columns: Column<RateRow>[] = [
  {
    name: 'Market',
    cell: (rate) => (
      <span title={marketText(rate)}>
        {marketText(rate)}
        {rate.isBest && <span className="ml-2 text-xs font-medium text-done">best</span>}
      </span>
    ),
  },
  { name: 'Asset', width: 'w-24', from: 'sm', cell: ({ asset }) => asset },
  {
    name: '7 days',
    width: 'w-32',
    from: 'md',
    cell: (rate) =>
      rate.past.length > 1 && <Sparkline label={marketText(rate)} values={rate.past} />,
  },
  {
    name: 'Rate',
    align: 'right',
    width: 'w-24 max-sm:w-20',
    cell: ({ apy }) => <span title={`${apy} %`}>{percentText(apy)}</span>,
  },
]

/** The rates, best first, and the disabled markets with their reasons. */
export function RateTable({ yields, series }: { yields: Yields; series: Series | undefined }) {
  const { rates, best, disabled, unavailable } = yields
  const rows = rates
    .map((rate) => ({
      ...rate,
      isBest: isSame(rate, best),
      past: series?.values.get(marketKey(rate)) ?? [],
    }))
    .sort((one, other) => other.apy - one.apy)
  return (
    <>
      <Table label="Rates" columns={columns} rows={rows} keyOf={marketKey} />
      {unavailable && (
        <p role="status" className="mt-2 text-sm text-waiting">
          No answer from {unavailable.map(chainText).join(', ')}.
        </p>
      )}
      {disabled?.map((market) => (
        <p
          key={`${market.chain} ${market.protocol} ${market.asset}`}
          className="mt-2 text-sm text-ink-2"
        >
          Disabled: {marketText(market)}, {namesIn(market.reason)}.
        </p>
      ))}
    </>
  )
}

const isSame = (rate: Yields['rates'][number], best: Yields['best']) =>
  best !== null &&
  best.chain === rate.chain &&
  best.protocol === rate.protocol &&
  best.asset === rate.asset
