import type { System } from '../../api/types.js'
import { amountText } from '../../text/amount.js'
import { chainText } from '../../text/shorten.js'
import { Section } from '../../ui/PageHead.js'
import { State } from '../../ui/feedback/State.js'
import { Table, type Column } from '../../ui/tables/Table.js'
import { Elapsed, Time } from '../../ui/values/Time.js'

type ChainState = System['readiness']['chains'][number]
type Row = System['chains'][number] & { state: ChainState | undefined }

/** What is signed for a chain and not yet in a block, beside what is booked of it. */
const columns: Column<Row>[] = [
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
    name: 'Booked block',
    width: 'w-28',
    align: 'right',
    cell: ({ bookedBlock }) => amountText(bookedBlock),
  },
  {
    name: 'Booked',
    width: 'w-24',
    align: 'right',
    from: 'sm',
    cell: ({ bookedAt }) => <Time at={bookedAt} />,
  },
  {
    name: 'Finalized',
    width: 'w-28',
    align: 'right',
    from: 'md',
    cell: ({ finalizedBlock }) => amountText(finalizedBlock),
  },
  {
    name: 'To be signed',
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

type Props = { chains: System['chains']; states: ChainState[] }

/** How far each chain is followed, and what does not work on it. */
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

function Health({ state }: { state: ChainState | undefined }) {
  if (!state?.answered) return <State state="failed">Silent</State>
  if (state.disabled.length > 0) return <State state="waiting">In part</State>
  return <State state="done">Works</State>
}

function Endpoints({ of }: { of: ChainState['endpoints'] }) {
  const good = of.filter(({ state }) => state === 'ok').length
  const all = of.map(({ position, state }) => `${position}: ${state}`).join('\n')
  return (
    <span title={all} className={good < of.length ? 'text-waiting' : ''}>
      {good} of {of.length}
    </span>
  )
}

/** What is disabled with its reason, and each check that was not passed. */
function Faults({ state: { chain, disabled, checks } }: { state: ChainState }) {
  const failed = checks.filter(({ outcome }) => outcome !== 'ok')
  if (disabled.length + failed.length === 0) return null
  return (
    <div className="mt-3 text-sm">
      <h3 className="text-sm">{chainText(chain)}</h3>
      <ul className="space-y-0.5 text-ink-2">
        {disabled.map(({ capability, what, reason }) => (
          <li key={capability}>
            <span className="text-waiting">Disabled: {what}.</span> {reason}.
          </li>
        ))}
        {failed.map(({ check, detail }) => (
          <li key={check}>
            {check}: {detail}.
          </li>
        ))}
      </ul>
    </div>
  )
}
