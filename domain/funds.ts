import { feederOf, spendingChain, type ExecutionPlan, type Funds, type Step } from './intent.js'
import { completionOf, type Effect } from './results.js'
import { assetText } from './money.js'

/**
 * Where the money of an intent is when one of its steps did not happen: what other steps have brought, also
 * later ones if a reorg undid an earlier one, is in the wallet, what the step was to spend is where it was. Amounts are those of the chains' logs as far as
 * there are any, else the plan's.
 */
export function locateFunds(plan: ExecutionPlan, failed: Step, effects: Effect[]): Funds[] {
  const { sequence: at } = failed
  const spending = plan.steps.filter((step) => step.sequence === at || completionOf(step, effects))
  const spent = spending.flatMap((step) => feederOf(plan, step)?.sequence ?? [])
  const brought = plan.steps
    .filter(({ sequence }) => sequence !== at && !spent.includes(sequence))
    .flatMap((step) => broughtBy(step, effects))
  return [...brought, unspent(plan, failed, effects)]
}

/**
 * Where the money of an intent is at this moment, whatever its state: what its steps have brought and no other one has
 * spent, and what those that are still to come find where it was. Amounts are those of the chains' logs as far as
 * there are any, else the plan's.
 */
export function currentFunds(plan: ExecutionPlan, effects: Effect[]): Funds[] {
  const hasLeft = (step: Step) => completionOf(step, effects) ?? isBurned(step, effects)
  const spent = plan.steps.filter(hasLeft).flatMap((step) => feederOf(plan, step)?.sequence ?? [])
  return plan.steps.flatMap((step) => {
    if (completionOf(step, effects)) {
      return spent.includes(step.sequence) ? [] : resultOf(step, effects)
    }
    const feeder = feederOf(plan, step)
    const isFed = feeder !== undefined && !isBurned(step, effects)
    return isFed ? [] : [unspent(plan, step, effects)]
  })
}

/** What a step has brought, and where to: a deposit into its market. */
function resultOf(step: Step, effects: Effect[]): Funds[] {
  const units = completionOf(step, effects)?.units
  if (step.type !== 'deposit' || units === undefined) return broughtBy(step, effects)
  const { chain, asset, protocol } = step
  return [{ chain, asset, amount: assetText(units), protocol }]
}

/** What a step that is over has put into the wallet; a deposit puts nothing there. */
function broughtBy(step: Step, effects: Effect[]): Funds[] {
  const units = completionOf(step, effects)?.units
  if (units === undefined || step.type === 'deposit') return []
  const amount = assetText(units)
  if (step.type === 'bridge') return [{ chain: step.to, asset: step.asset, amount }]
  const asset = step.type === 'swap' ? step.toAsset : step.asset
  return [{ chain: step.chain, asset, amount }]
}

const isBurned = (step: Step, effects: Effect[]): boolean =>
  effects.some(
    ({ sequence, kind, confirmed, success }) =>
      sequence === step.sequence && kind === 'bridge' && confirmed && success,
  )

function unspent(plan: ExecutionPlan, step: Step, effects: Effect[]): Funds {
  const { asset } = step
  const feeder = feederOf(plan, step)
  const units = feeder && completionOf(feeder, effects)?.units
  const amount = units === undefined ? step.amount : assetText(units)
  if (isBurned(step, effects)) return { chain: 'bridge', asset, amount }
  const held = step.type === 'withdraw' ? { protocol: step.protocol } : {}
  return { chain: spendingChain(step), asset, amount, ...held }
}
