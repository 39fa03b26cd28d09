import { sourceStepOf, type IntentAction, type StepPlan, type PlanStep } from './intent.js'
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

/** Base units by which a planned withdrawal may exceed its request, because markets round. */
const ROUNDING_UNITS = 10n

/**
 * True when the steps that spend existing money spend no more in total than was requested. For a withdrawal, output in
 * another asset counts as the least that a swap returns, and dust may come with it. A withdrawal of everything is
 * bounded by the positions in the markets.
 */
export function isWithinRequest(asked: Asked, plan: StepPlan, limits: PriceLimits): boolean {
  if (plan.steps.some(({ type }) => !stepsOf[asked.action].includes(type))) return false
  if (asked.everything) return true
  const spending = plan.steps.filter((step) => sourceStepOf(plan, step) === undefined)
  const total = sum(spending.map(({ amount }) => assetUnits(amount)))
  if (asked.action !== 'withdraw') return total <= asked.units
  const worth = sum(spending.map((step) => leastOutputOf(step, plan, limits)))
  return worth <= asked.units + ROUNDING_UNITS + sum(spending.map(dustBeside))
}

/** The least output of a withdrawal step in the requested asset. */
function leastOutputOf(step: PlanStep, plan: StepPlan, limits: PriceLimits): bigint {
  const units = assetUnits(step.amount)
  const isSwapped =
    step.type === 'swap' ||
    plan.steps.some((other) => sourceStepOf(plan, other)?.sequence === step.sequence)
  return isSwapped ? leastOutput(units, limits) : units
}

function dustBeside(step: PlanStep): bigint {
  const isWhole = step.type === 'swap' || (step.type === 'withdraw' && step.everything === true)
  return isWhole ? dustOf(assetUnits(step.amount)) : 0n
}

const sum = (units: bigint[]) => units.reduce((total, one) => total + one, 0n)
