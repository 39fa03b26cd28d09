import {
  isTerminal,
  laterStatus,
  resultsOf,
  type Effect,
  type ExecutionPlan,
  type IntentRequest,
  type Progress,
  type Step,
} from '../domain/intent.js'
import { fromUnits } from '../domain/money.js'
import type { Intent } from '../db/intents.js'

/**
 * The intent resource. The row is the body; a running workflow may know more and then raises the status
 * and the count of finished steps, it never lowers them.
 */
export function intentBody(
  intent: Intent,
  effects: Effect[],
  progress: Progress | undefined,
  decimals: number,
) {
  const { plan, error, completedAt } = intent
  // Told before its plan was read, progress would speak of steps that the body does not show.
  const running = plan && progress && !isTerminal(progress.status) ? progress : undefined
  const status = running ? laterStatus(intent.status, running.status) : intent.status
  return {
    id: intent.id,
    walletId: intent.walletId,
    status,
    action: intent.action,
    amount: Number(fromUnits(BigInt(intent.units), decimals)),
    asset: intent.asset,
    ...(plan ? { executionPlan: planBody(plan) } : {}),
    ...(plan && status !== 'pending' && status !== 'planning'
      ? { results: resultsBody(plan, effects, running, decimals) }
      : {}),
    ...(error ? { error } : {}),
    createdAt: intent.createdAt.toISOString(),
    ...(completedAt ? { completedAt: completedAt.toISOString() } : {}),
  }
}

function resultsBody(
  plan: ExecutionPlan,
  effects: Effect[],
  progress: Progress | undefined,
  decimals: number,
) {
  const results = resultsOf(plan, effects, decimals)
  const completedSteps = Math.max(results.completedSteps, progress?.completedSteps ?? 0)
  return { ...results, completedSteps }
}

/** What a request would do now, in the fields of the intent that it would become. */
export function previewBody(
  walletId: string,
  { action, asset, amountUnits }: IntentRequest,
  plan: ExecutionPlan,
  decimals: number,
) {
  const amount = Number(fromUnits(amountUnits, decimals))
  return { dryRun: true, walletId, action, amount, asset, executionPlan: planBody(plan) }
}

/** A plan without what is internal, such as the contracts that it calls. */
function planBody({ steps, ...plan }: ExecutionPlan) {
  return { ...plan, steps: steps.map(stepBody) }
}

const stepBody = ({ type, sequence, chain, protocol, asset, amount }: Step) => ({
  type,
  sequence,
  chain,
  protocol,
  asset,
  amount,
})
