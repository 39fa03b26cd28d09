import type { Intent } from '../../api/types.js'
import { percentText, usdText } from '../../text/amount.js'
import { chainText, protocolText } from '../../text/shorten.js'
import { Section } from '../../ui/PageHead.js'
import { Table, type Column } from '../../ui/tables/Table.js'

type Plan = NonNullable<Intent['executionPlan']>
type Option = NonNullable<Plan['alternatives']>[number]

/** What to know of a plan: told when it was made, and still true afterwards. */
export function Warnings({ plan: { warnings } }: { plan: Plan }) {
  return warnings?.map(({ code, message }) => (
    <p key={code} className="mb-3 rounded-md bg-waiting-soft px-3 py-2 text-sm text-waiting">
      {message}
    </p>
  ))
}

const columns: Column<Option>[] = [
  {
    name: 'Market',
    cell: ({ protocol, chain }) => (
      <>
        {protocolText(protocol)} <span className="text-ink-3">{chainText(chain)}</span>
      </>
    ),
  },
  { name: 'Rate', width: 'w-20', align: 'right', cell: ({ apy }) => percentText(apy) },
  {
    name: 'A year brings',
    width: 'w-28',
    align: 'right',
    cell: ({ netUsd }) => (netUsd === undefined ? '–' : usdText(netUsd)),
  },
  {
    name: 'Why not',
    from: 'md',
    cell: ({ why }) => (
      <span title={why} className="text-ink-2">
        {why}
      </span>
    ),
  },
]

/** What the other markets would have brought; nothing where there was no choice. */
export function Alternatives({ plan: { alternatives } }: { plan: Plan }) {
  if (!alternatives?.length) return null
  return (
    <Section title="What the other options would have brought">
      <Table
        label="Other options"
        columns={columns}
        rows={alternatives}
        keyOf={({ chain, protocol, asset }) => `${chain} ${protocol} ${asset}`}
      />
    </Section>
  )
}
