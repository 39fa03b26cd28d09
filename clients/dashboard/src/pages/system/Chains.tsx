import type { System } from '../../api/types.js'
import { amountText } from '../../text/amount.js'
import { chainText, namesIn } from '../../text/names.js'
import { Section } from '../../ui/PageHead.js'
import { State } from '../../ui/feedback/State.js'
import { Table, type Column } from '../../ui/tables/Table.js'
import { Elapsed, Time } from '../../ui/values/Time.js'

type ChainReadiness = System['readiness']['chains'][number]
type ChainRow = System['chains'][number] & { state: ChainReadiness | undefined }

/** Operations that are signed but not in a block yet, next to the indexed block. */
const columns: Column<ChainRow>[] = [
  { name: 'Chain', cell: ({ chain }) => chainText(chain) },
  { name: 'State', width: 'w-28', cell: ({ state }) => <Health state={state} /> },
  {
    name: 'Endpoints',
    width: 'w-24',
    align: 'right',
    from: 'md',
    cell: ({ state }) => <Endpoints of={state?.endpoints ?? []} />,
  },
  {
    name: 'Indexed block',
    width: 'w-28',
    align: 'right',
    cell: ({ indexedBlock }) => amountText(indexedBlock),
  },
  {
    name: 'Indexed',
    width: 'w-24',
    align: 'right',
    from: 'sm',
    cell: ({ indexedAt }) => <Time at={indexedAt} />,
  },
  {
    name: 'Finalized',
    width: 'w-28',
    align: 'right',
    from: 'md',
    cell: ({ finalizedBlock }) => amountText(finalizedBlock),
  },
  {
    name: 'Unsigned',
    width: 'w-36',
    align: 'right',
    from: 'sm',
    cell: ({ waiting, waitingSince }) => (
      <>
        {waiting}
        {waitingSince && (
          <span className="text-waiting">
            {' for '}
            <Elapsed since={waitingSince} />
          </span>
        )}
      </>
    ),
  },
  {
    name: 'Sent',
    width: 'w-16',
    align: 'right',
    from: 'md',
    cell: ({ sent }) => sent,
  },
]

type Props = { chains: System['chains']; states: ChainReadiness[] }

/** Indexing progress and failed checks of each chain. */
export function Chains({ chains, states }: Props) {
  const rows = chains.map((chain) => ({
    ...chain,
    state: states.find((state) => state.chain === chain.chain),
  }))
  return (
    <Section title="Chains">
      <Table label="Chains" columns={columns} rows={rows} keyOf={({ chain }) => chain} />
      {states.map((state) => (
        <Faults key={state.chain} state={state} />
      ))}
    </Section>
  )
}

function Health({ state }: { state: ChainReadiness | undefined }) {
  if (!state?.answered) return <State state="failed">No answer</State>
  if (state.disabled.length > 0) return <State state="waiting">Degraded</State>
  return <State state="done">Healthy</State>
}

function Endpoints({ of }: { of: ChainReadiness['endpoints'] }) {
  const good = of.filter(({ state }) => state === 'ok').length
  const all = of.map(({ position, state }) => `${position}: ${state}`).join('\n')
  return (
    <span title={all} className={good < of.length ? 'text-waiting' : ''}>
      {good} of {of.length}
    </span>
  )
}

/** Disabled capabilities with their reasons, and failed checks. */
function Faults({ state: { chain, disabled, checks } }: { state: ChainReadiness }) {
  const failed = checks.filter(({ outcome }) => outcome !== 'ok')
  if (disabled.length + failed.length === 0) return null
  return (
    <div className="mt-3 text-sm">
      <h3 className="text-sm">{chainText(chain)}</h3>
      <ul className="space-y-0.5 text-ink-2">
        {disabled.map(({ capability, what, reason }) => (
          <li key={capability}>
            <span className="text-waiting">Disabled: {what}.</span> {namesIn(reason)}.
          </li>
        ))}
        {failed.map(({ check, detail }) => (
          <li key={check}>
            {check}: {namesIn(detail)}.
          </li>
        ))}
      </ul>
    </div>
  )
}
