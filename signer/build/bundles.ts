import { BUNDLE_GAS } from '../check/verifySignature.js'
import type { Prepared } from '../prepare.js'

/** Groups operations into transactions by gas: user operations together, payments and mints together. */
export function groupByTransaction(prepared: Prepared[]): Prepared[][] {
  const isDirect = ({ kind }: Prepared) => kind !== 'userOperation'
  return [
    ...groupByGas(prepared.filter(isDirect)),
    ...groupByGas(prepared.filter((one) => !isDirect(one))),
  ]
}

function groupByGas(prepared: Prepared[]): Prepared[][] {
  const groups: Prepared[][] = []
  let bundle: Prepared[] | undefined
  let gas = 0n
  for (const one of prepared) {
    if (!bundle || gas + one.gas > BUNDLE_GAS) {
      bundle = []
      groups.push(bundle)
      gas = 0n
    }
    bundle.push(one)
    gas += one.gas
  }
  return groups
}
