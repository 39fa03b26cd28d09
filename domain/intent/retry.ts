import { invalidRequest } from '../errors.js'
import {
  sourceStepOf,
  type StepPlan,
  type IntentRequest,
  type PlanStep,
  type WithdrawRequest,
} from './intent.js'
import { completionOf, type Effect } from './results.js'
import { assetUnits } from '../money.js'

/** A failed intent: its request, its plan, and its effects so far. */
export type Failed = { request: IntentRequest; plan: StepPlan | null; effects: Effect[] }

/** Why no work can be retried. */
type NoRemainder = { reason: 'funds_in_bridge' | 'nothing_left'; message: string }

/**
 * The remaining work of a failed intent, from where its money is now. Output of confirmed steps is not delivered twice.
 *
 * @throws {ServiceError} INVALID_REQUEST with the reason `funds_in_bridge` while burned money has not arrived, or
 *   `nothing_left`.
 */
export function remainingRequest(failed: Failed): IntentRequest {
  const remaining = remainderOf(failed)
  if ('reason' in remaining) throw invalidRequest('intentId', remaining.message, remaining.reason)
  return remaining
}

/** True when `remainingRequest` returns. */
export const hasRemainder = (failed: Failed): boolean => !('reason' in remainderOf(failed))

function remainderOf({ request, plan, effects }: Failed): IntentRequest | NoRemainder {
  if (!plan) return request
  const done = plan.steps.filter((step) => completionOf(step, effects))
  // A step that was reported as failed may have succeeded since. A repetition would spend other money.
  if (done.length === plan.steps.length) {
    return { reason: 'nothing_left', message: 'All steps of the intent have succeeded since.' }
  }
  if (isInBridge(plan, effects)) {
    const message = 'The money is in the bridge. Retry when it has arrived.'
    return { reason: 'funds_in_bridge', message }
  }
  if (request.action === 'withdraw') return remainingWithdrawal(request, plan, effects)
  const last = done.at(-1)
  const units = last && completionOf(last, effects)?.units
  if (!last || units === undefined || request.action === 'bridge') return request
  return { action: 'lend', asset: assetOf(last), amountUnits: units, chain: plan.targetChain }
}

function remainingWithdrawal(
  request: WithdrawRequest,
  plan: StepPlan,
  effects: Effect[],
): WithdrawRequest | NoRemainder {
  const unswapped = unswappedOf(plan, effects)
  const swap = unswapped ? { unswapped } : {}
  if (request.amountUnits === 'max') return { ...request, ...swap }
  const spent = plan.steps.flatMap((step) => sourceStepOf(plan, step)?.sequence ?? [])
  const delivered = plan.steps
    .filter((step) => !spent.includes(step.sequence) && assetOf(step) === request.asset)
    .reduce((sum, step) => sum + (completionOf(step, effects)?.units ?? 0n), 0n)
  const amountUnits = request.amountUnits - delivered
  if (amountUnits <= 0n) return { reason: 'nothing_left', message: 'The money has been withdrawn.' }
  return { ...request, amountUnits, ...swap }
}

/** Money in the wallet that awaits a swap. A chain has one asset to swap. */
function unswappedOf(plan: StepPlan, effects: Effect[]): WithdrawRequest['unswapped'] {
  const waiting = plan.steps.flatMap((step) => {
    if (step.type !== 'swap' || completionOf(step, effects)) return []
    const sourceStep = sourceStepOf(plan, step)
    const units = sourceStep ? completionOf(sourceStep, effects)?.units : assetUnits(step.amount)
    return units ? [{ asset: step.asset, units }] : []
  })
  const [first] = waiting
  return first && { ...first, units: waiting.reduce((sum, { units }) => sum + units, 0n) }
}

const assetOf = (step: PlanStep) => (step.type === 'swap' ? step.toAsset : step.asset)

function isInBridge(plan: StepPlan, effects: Effect[]): boolean {
  const burned = effects.filter(({ kind, success }) => kind === 'bridge' && success)
  const minted = plan.steps.filter(
    (step) => step.type === 'bridge' && completionOf(step, effects) !== undefined,
  )
  return burned.length > minted.length
}
