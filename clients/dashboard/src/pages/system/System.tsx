import { useQuery } from '@tanstack/react-query'
import { systemQuery } from '../../api/queries.js'
import type { System as SystemState } from '../../api/types.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { PageHead } from '../../ui/PageHead.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { State } from '../../ui/feedback/State.js'
import { Time } from '../../ui/values/Time.js'
import { problemsOf } from './problems.js'
import { AuditLog, Pauses } from './PausesAndAuditLog.js'
import { Chains } from './Chains.js'
import { Senders, Treasury } from './Senders.js'
import { Late } from './Late.js'
import { Processes } from './Processes.js'

/** The health of the deployment, for operators. */
export function System() {
  const { data, error, refetch } = useQuery(systemQuery)
  const retry = () => void refetch()
  return (
    <>
      <PageHead title="System">The whole deployment, across all accounts.</PageHead>
      {error && (
        <div className="mb-6">
          <Failure error={error} retry={retry} />
        </div>
      )}
      {data ? <Whole system={data} /> : !error && <Skeleton lines={10} />}
    </>
  )
}

function Whole({ system }: { system: SystemState }) {
  const { readiness, senders, pauses, auditLog, late } = system
  return (
    <>
      <Verdict system={system} />
      <Late late={late} />
      <Pauses pauses={pauses} />
      <Processes system={system} />
      <Chains chains={system.chains} states={readiness.chains} />
      <Senders senders={senders} balances={readiness.senders} />
      <Treasury balances={readiness.treasury} />
      <AuditLog auditLog={auditLog} />
    </>
  )
}

/** The problems that need an operator. */
function Verdict({ system }: { system: SystemState }) {
  const problems = problemsOf(system)
  return (
    <div className="mb-8 border-y border-line py-4">
      {problems.length === 0 ? (
        <State state="done">All systems work</State>
      ) : (
        <State state="waiting">Needs attention</State>
      )}
      <ul className="mt-1 space-y-0.5 text-sm">
        {problems.map((problem) => (
          <li key={problem}>{problem}</li>
        ))}
      </ul>
      <p className="mt-1 text-xs text-ink-3">
        Chains checked <Time at={system.readiness.checkedAt} />. This page refreshes automatically.
      </p>
    </div>
  )
}
