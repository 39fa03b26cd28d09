import { highestL1Part } from '../chains/l1Costs.js'
import { ServiceError } from '../domain/errors.js'
import { largest } from '../domain/money.js'
import type { Held } from '../domain/waiting.js'
import type { Means, Round, SignerTools } from './round.js'
import type { UnsignedTransaction } from './transaction.js'

/** A transaction to be signed, and the execution gas of each operation that it carries. */
type Carrying = {
  unsigned: Pick<UnsignedTransaction, 'data' | 'gasLimit' | 'authorizationList'>
  gas: bigint[]
}

/**
 * Refuses a transaction in which an operation may cost more than it is allowed to: its own gas and an equal share of
 * what all have in common, at the highest fee, with its share of the fee for L1.
 *
 * @throws {ServiceError} RPC_ERROR: gas may be cheaper later, or alone.
 */
export function assertAffordable(
  { operationGasWei }: Pick<SignerTools, 'operationGasWei'>,
  { client: { chain }, fees, l1Price }: Pick<Round & Means, 'client' | 'fees' | 'l1Price'>,
  { unsigned, gas }: Carrying,
): void {
  const count = BigInt(gas.length)
  const own = gas.reduce((sum, one) => sum + one, 0n)
  const posted = {
    data: unsigned.data,
    authorizations: unsigned.authorizationList?.length ?? 0,
  }
  const shared = (unsigned.gasLimit - own) / count
  const l1FeeWei = highestL1Part(chain, l1Price, posted).feeWei / count
  const dearest = largest(0n, ...gas)
  if ((dearest + shared) * fees.maxWei + l1FeeWei <= operationGasWei) return
  const message = `Gas on ${chain.name} costs more than an operation may cost.`
  throw new ServiceError('RPC_ERROR', message, { waitsFor: 'GAS_PRICE' } satisfies Held)
}
