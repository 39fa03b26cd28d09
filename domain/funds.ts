import {
  completionOf,
  feederOf,
  spendingChain,
  type Effect,
  type ExecutionPlan,
  type Funds,
  type Step,
} from './intent.js'
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

/** What a step that is over has put into the wallet; a deposit puts nothing there. */
function broughtBy(step: Step, effects: Effect[]): Funds[] {
  const units = completionOf(step, effects)?.units
  if (units === undefined || step.type === 'deposit') return []
  const amount = assetText(units)
  if (step.type === 'bridge') return [{ chain: step.to, asset: step.asset, amount }]
  const asset = step.type === 'swap' ? step.toAsset : step.asset
  return [{ chain: step.chain, asset, amount }]
}

function unspent(plan: ExecutionPlan, step: Step, effects: Effect[]): Funds {
  const { asset } = step
  const feeder = feederOf(plan, step)
  const units = feeder && completionOf(feeder, effects)?.units
  const amount = units === undefined ? step.amount : assetText(units)
  const isBurned = effects.some(
    ({ sequence, kind, confirmed, success }) =>
      sequence === step.sequence && kind === 'bridge' && confirmed && success,
  )
  if (isBurned) return { chain: 'bridge', asset, amount }
  const held = step.type === 'withdraw' ? { protocol: step.protocol } : {}
  return { chain: spendingChain(step), asset, amount, ...held }
}
