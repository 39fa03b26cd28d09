import type { Intent } from '../../api/types.js'
import { percentText, usdText } from '../../text/amount.js'
import { marketText, namesIn } from '../../text/names.js'
import { Section } from '../../ui/PageHead.js'
import { Table, type Column } from '../../ui/tables/Table.js'

type IntentPlan = NonNullable<Intent['executionPlan']>
type AlternativeMarket = NonNullable<IntentPlan['alternatives']>[number]

/** The warnings of a plan. */
export function Warnings({ plan: { warnings } }: { plan: IntentPlan }) {
  return warnings?.map(({ code, message }) => (
    <p key={code} className="mb-3 rounded-md bg-waiting-soft px-3 py-2 text-sm text-waiting">
      {namesIn(message)}
    </p>
  ))
}

const columns: Column<AlternativeMarket>[] = [
  {
    name: 'Market',
    width: 'w-60 max-sm:w-auto',
    cell: (market) => <span className="block py-1.5 whitespace-normal">{marketText(market)}</span>,
  },
  { name: 'Rate', width: 'w-20', align: 'right', cell: ({ apy }) => percentText(apy) },
  {
    name: 'Net per year',
    width: 'w-28',
    align: 'right',
    cell: ({ netUsd }) => (netUsd === undefined ? '–' : usdText(netUsd)),
  },
  {
    name: 'Why not',
    from: 'md',
    cell: ({ why }) => (
      <span className="block py-1.5 whitespace-normal text-ink-2">{namesIn(why)}</span>
    ),
  },
]

/** The markets that were not chosen. Empty without a choice. */
export function Alternatives({ plan: { alternatives } }: { plan: IntentPlan }) {
  if (!alternatives?.length) return null
  return (
    <Section title="Other options">
      <Table
        label="Other options"
        columns={columns}
        rows={alternatives}
        keyOf={({ chain, protocol, asset }) => `${chain} ${protocol} ${asset}`}
      />
    </Section>
  )
}
