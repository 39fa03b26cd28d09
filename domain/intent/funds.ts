import {
  sourceStepOf,
  spendingChain,
  type StepPlan,
  type LocatedFunds,
  type PlanStep,
} from './intent.js'
import { completionOf, type Effect } from './results.js'
import { assetText } from '../money.js'
/**
 * Where the money of an intent is when one of its steps failed. The output of other steps is in the wallet, including
 * later steps when a reorg undid an earlier one. The input of the failed step is where it was. Amounts come from the
 * chains' logs, or from the plan where no log exists.
 */
export function locateFunds(plan: StepPlan, failed: PlanStep, effects: Effect[]): LocatedFunds[] {
  const { sequence: at } = failed
  const spending = plan.steps.filter((step) => step.sequence === at || completionOf(step, effects))
  const spent = spending.flatMap((step) => sourceStepOf(plan, step)?.sequence ?? [])
  const delivered = plan.steps
    .filter(({ sequence }) => sequence !== at && !spent.includes(sequence))
    .flatMap((step) => outputOf(step, effects))
  return [...delivered, unspent(plan, failed, effects)]
}

/**
 * Where the money of an intent is now, in any state: the unspent output of its steps, and the input of its pending
 * steps. Amounts come from the chains' logs, or from the plan where no log exists.
 */
export function currentFunds(plan: StepPlan, effects: Effect[]): LocatedFunds[] {
  const hasLeft = (step: PlanStep) => completionOf(step, effects) ?? burnOf(step, effects)
  const spent = plan.steps
    .filter(hasLeft)
    .flatMap((step) => sourceStepOf(plan, step)?.sequence ?? [])
  return plan.steps.flatMap((step) => {
    if (completionOf(step, effects)) {
      return spent.includes(step.sequence) ? [] : resultOf(step, effects)
    }
    const sourceStep = sourceStepOf(plan, step)
    const isFed = sourceStep !== undefined && !burnOf(step, effects)
    return isFed ? [] : [unspent(plan, step, effects)]
  })
}

/** The output of a step and its place. A deposit's is in its market. */
function resultOf(step: PlanStep, effects: Effect[]): LocatedFunds[] {
  const units = completionOf(step, effects)?.units
  if (step.type !== 'deposit' || units === undefined) return outputOf(step, effects)
  const { chain, asset, protocol } = step
  return [{ chain, asset, amount: assetText(units), protocol }]
}

/** The output of a completed step in the wallet. A deposit has none there. */
function outputOf(step: PlanStep, effects: Effect[]): LocatedFunds[] {
  const units = completionOf(step, effects)?.units
  if (units === undefined || step.type === 'deposit') return []
  const amount = assetText(units)
  if (step.type === 'bridge') return [{ chain: step.to, asset: step.asset, amount }]
  const asset = step.type === 'swap' ? step.toAsset : step.asset
  return [{ chain: step.chain, asset, amount }]
}

const burnOf = (step: PlanStep, effects: Effect[]): Effect | undefined =>
  effects.find(
    ({ sequence, kind, confirmed, success }) =>
      sequence === step.sequence && kind === 'bridge' && confirmed && success,
  )

function unspent(plan: StepPlan, step: PlanStep, effects: Effect[]): LocatedFunds {
  const { asset } = step
  const sourceStep = sourceStepOf(plan, step)
  const burn = burnOf(step, effects)
  const units = burn?.units ?? (sourceStep && completionOf(sourceStep, effects)?.units)
  const amount = units === undefined ? step.amount : assetText(units)
  if (burn) return { chain: 'bridge', asset, amount }
  const market = step.type === 'withdraw' ? { protocol: step.protocol } : {}
  return { chain: spendingChain(step), asset, amount, ...market }
}
