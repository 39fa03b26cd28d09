import {
  sourceStepOf,
  type IntentAction,
  type StepPlan,
  type PlanStep,
  type SwapStep,
} from './intent.js'
import { leastOutput, type PriceLimits } from '../limits.js'
import { assetUnits } from '../money.js'
import { dustOf } from '../plan/sources.js'

/** The request of an intent. `units`: base units of the asset. For a withdrawal of everything, its value at planning. */
export type Asked = { action: IntentAction; units: bigint; everything: boolean }

/** Step types that each action may use. */
const stepsOf: Record<IntentAction, PlanStep['type'][]> = {
  lend: ['bridge', 'swap', 'deposit'],
  withdraw: ['withdraw', 'swap'],
  bridge: ['bridge'],
}

/** Base units by which the input of a swap is rounded up. */
const SWAP_ROUNDING_UNITS = 2n
/** The least of a request that a plan with a swap may guarantee. Planner and pool may each take half a percent. */
const LEAST_PERCENT_SWAPPED = 99n

/**
 * True when the steps that spend existing money spend what was requested, no more and no less. A withdrawal may differ by
 * rounding dust. Its output in another asset counts at most as the least that a swap returns, and at least as the minimum
 * of its swap. A withdrawal of everything is bounded by the positions, and empties each market that it uses.
 */
export function matchesRequest(asked: Asked, plan: StepPlan, limits: PriceLimits): boolean {
  if (plan.steps.some(({ type }) => !stepsOf[asked.action].includes(type))) return false
  if (asked.action === 'lend' && plan.steps.at(-1)?.type !== 'deposit') return false
  const spending = plan.steps.filter((step) => sourceStepOf(plan, step) === undefined)
  if (asked.everything) return spending.every(emptiesMarket)
  if (asked.action !== 'withdraw') {
    return sum(spending.map(({ amount }) => assetUnits(amount))) === asked.units
  }
  const swaps = plan.steps.filter(({ type }) => type === 'swap').length
  const dust = dustOf(asked.units)
  const worth = sum(spending.map((step) => leastOutputOf(step, plan, limits)))
  if (worth > asked.units + dust + SWAP_ROUNDING_UNITS * BigInt(swaps)) return false
  const guaranteed = sum(spending.map((step) => guaranteedOutputOf(step, plan)))
  const percent = swaps > 0 ? LEAST_PERCENT_SWAPPED : 100n
  return (guaranteed + dust) * 100n >= asked.units * percent
}

const emptiesMarket = (step: PlanStep) => step.type !== 'withdraw' || step.everything === true

/** The step that swaps what a step spends or withdraws, if any. */
function swapOf(step: PlanStep, plan: StepPlan): SwapStep | undefined {
  if (step.type === 'swap') return step
  return plan.steps.find(
    (other): other is SwapStep =>
      other.type === 'swap' && sourceStepOf(plan, other)?.sequence === step.sequence,
  )
}

/** The least output of a withdrawal step in the requested asset. */
function leastOutputOf(step: PlanStep, plan: StepPlan, limits: PriceLimits): bigint {
  const units = assetUnits(step.amount)
  return swapOf(step, plan) ? leastOutput(units, limits) : units
}

/** The output of a withdrawal step that its plan guarantees. */
function guaranteedOutputOf(step: PlanStep, plan: StepPlan): bigint {
  return assetUnits(swapOf(step, plan)?.minimum ?? step.amount)
}

const sum = (units: bigint[]) => units.reduce((total, one) => total + one, 0n)
