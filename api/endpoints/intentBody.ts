import {
  isTerminal,
  laterStatus,
  plannedWithdrawal,
  resultsOf,
  type Effect,
  type ExecutionPlan,
  type IntentRequest,
  type Progress,
  type Step,
} from '../../domain/intent.js'
import { assetText } from '../../domain/money.js'
import type { Intent } from '../../db/intents/intents.js'

/**
 * The intent resource. The row is the body; a running workflow may know more and then raises the status
 * and the count of finished steps, it never lowers them.
 */
export function intentBody(intent: Intent, effects: Effect[], progress: Progress | undefined) {
  const { plan, error, completedAt } = intent
  // Told before its plan was read, progress would speak of steps that the body does not show.
  const running = plan && progress && !isTerminal(progress.status) ? progress : undefined
  const status = running ? laterStatus(intent.status, running.status) : intent.status
  const isBegun = status !== 'pending' && status !== 'planning'
  return withoutAbsent({
    id: intent.id,
    walletId: intent.walletId,
    status,
    action: intent.action,
    amount: Number(assetText(BigInt(intent.units))),
    asset: intent.asset,
    ...chainFields(intent),
    metadata: intent.metadata,
    retryOf: intent.retryOf,
    executionPlan: plan && planBody(plan),
    results: plan && isBegun ? resultsBody(plan, effects, running) : null,
    delay: isTerminal(status) ? null : intent.delay,
    error,
    createdAt: intent.createdAt.toISOString(),
    completedAt: completedAt && completedAt.toISOString(),
  })
}

/** What is null is absent from the resource. */
function withoutAbsent(fields: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

/** The chains as the caller named them. */
function chainFields({ action, chain, fromChain }: Intent) {
  return action === 'bridge' ? { fromChain, toChain: chain } : { chain }
}

function resultsBody(plan: ExecutionPlan, effects: Effect[], progress: Progress | undefined) {
  const results = resultsOf(plan, effects)
  const completedSteps = Math.max(results.completedSteps, progress?.completedSteps ?? 0)
  return { ...results, completedSteps }
}

/** What a request would do now, in the fields of the intent that it would become. */
export function previewBody(
  walletId: string,
  { action, asset, amountUnits }: IntentRequest,
  plan: ExecutionPlan,
) {
  const units = amountUnits === 'max' ? plannedWithdrawal(plan) : amountUnits
  const amount = Number(assetText(units))
  return { dryRun: true, walletId, action, amount, asset, executionPlan: planBody(plan) }
}

/** A plan without what is internal, such as the contracts that it calls. */
function planBody({ steps, ...plan }: ExecutionPlan) {
  return { ...plan, steps: steps.map(stepBody) }
}

function stepBody(step: Step) {
  const { type, sequence, protocol, asset, amount } = step
  switch (type) {
    case 'deposit':
    case 'withdraw':
      return { type, sequence, chain: step.chain, protocol, asset, amount }
    case 'bridge': {
      const { from, to, speed, maxFee, arrives } = step
      return { type, sequence, from, to, protocol, asset, amount, speed, maxFee, arrives }
    }
    case 'swap': {
      const { chain, toAsset, arrives, minimum } = step
      return { type, sequence, chain, protocol, asset, amount, toAsset, arrives, minimum }
    }
  }
}
