import { ServiceError } from './errors.js'
import { assetText, largest, usdUnits } from './money.js'
import { chainsOf, type IntentRequest, type StepPlan } from './intent/intent.js'

/**
 * The smallest amount of an intent by chain, in base units of dollars. `gas`: the estimated gas of its plan. A chain
 * that is absent accepts any amount.
 */
export type SmallestAmounts = Partial<Record<string, bigint | 'gas'>>

/**
 * Ensures that an intent moves enough for the gas that the service pays. A withdrawal of everything passes, so that
 * money can always leave.
 *
 * @throws {ServiceError} INVALID_REQUEST with the reason `below_minimum` and `details.smallest`, decimal text.
 */
export function assertLargeEnough(
  { amountUnits, asset }: IntentRequest,
  plan: StepPlan,
  amounts: SmallestAmounts = {},
): void {
  if (amountUnits === 'max') return
  // Gas of an unknown price refuses nothing.
  const gasUnits = usdUnits(plan.estimatedGasUsd ?? 0)
  const least = largest(
    0n,
    ...chainsOf(plan).map((chain) => {
      const amount = amounts[chain] ?? 0n
      return amount === 'gas' ? gasUnits : amount
    }),
  )
  if (amountUnits >= least) return
  const smallest = assetText(least)
  const message = `The smallest amount of this intent is ${smallest} ${asset}, because the service pays its gas. Request at least that.`
  const reason = 'below_minimum'
  const issues = [{ path: 'amount', message }]
  throw new ServiceError('INVALID_REQUEST', message, { reason, smallest, issues })
}
