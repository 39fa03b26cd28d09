import { feederOf, type Action, type ExecutionPlan, type Step } from './intent.js'
import { leastBrought, type PriceLimits } from './limits.js'
import { assetUnits } from './money.js'
import { dustOf } from './plan/sources.js'

/** What the caller of an intent has asked for. `units`: base units of the asset; of everything, what it was worth. */
export type Asked = { action: Action; units: bigint; everything: boolean }

/** Steps that each action is made of. */
const stepsOf: Record<Action, Step['type'][]> = {
  lend: ['bridge', 'swap', 'deposit'],
  withdraw: ['withdraw', 'swap'],
  bridge: ['bridge'],
}

/** By so many base units a withdrawal may be planned larger than it was asked for: markets round. */
const ROUNDING_UNITS = 10n

/**
 * True when the steps of a plan that spend what was there before spend no more together than was asked for. Of a
 * withdrawal what comes out in another asset counts as the least that a swap makes of it, and dust may come with
 * the rest. Who has asked for everything is bound by what the markets hold.
 */
export function isWithinRequest(asked: Asked, plan: ExecutionPlan, limits: PriceLimits): boolean {
  if (plan.steps.some(({ type }) => !stepsOf[asked.action].includes(type))) return false
  if (asked.everything) return true
  const spending = plan.steps.filter((step) => feederOf(plan, step) === undefined)
  const total = sum(spending.map(({ amount }) => assetUnits(amount)))
  if (asked.action !== 'withdraw') return total <= asked.units
  const worth = sum(spending.map((step) => broughtBy(step, plan, limits)))
  return worth <= asked.units + ROUNDING_UNITS + sum(spending.map(dustBeside))
}

/** The least that a step of a withdrawal brings of the asset that was asked for. */
function broughtBy(step: Step, plan: ExecutionPlan, limits: PriceLimits): bigint {
  const units = assetUnits(step.amount)
  const isSwapped =
    step.type === 'swap' ||
    plan.steps.some((other) => feederOf(plan, other)?.sequence === step.sequence)
  return isSwapped ? leastBrought(units, limits) : units
}

function dustBeside(step: Step): bigint {
  const isWhole = step.type === 'swap' || (step.type === 'withdraw' && step.everything === true)
  return isWhole ? dustOf(assetUnits(step.amount)) : 0n
}

const sum = (units: bigint[]) => units.reduce((total, one) => total + one, 0n)
