import { highestL1Part } from '../../evm/l1Costs.js'
import { ServiceError } from '../../domain/errors.js'
import { largest } from '../../domain/money.js'
import type { Held } from '../../domain/intent/waiting.js'
import type { SenderState, SigningContext, SignerTools } from '../signingContext.js'
import type { UnsignedTransaction } from '../build/transaction.js'

/** A transaction to sign, and the execution gas of each operation in it. */
type BundleGas = {
  unsigned: Pick<UnsignedTransaction, 'data' | 'gasLimit' | 'authorizationList'>
  gas: bigint[]
}

/**
 * Rejects a transaction in which an operation may exceed its gas budget. An operation pays its own gas, an equal
 * share of the common gas, both at the highest fee, and an equal share of the L1 fee.
 *
 * @throws {ServiceError} RPC_ERROR: gas may be cheaper later, or in a smaller transaction.
 */
export function assertAffordable(
  { operationGasWei }: Pick<SignerTools, 'operationGasWei'>,
  {
    client: { chain },
    fees,
    l1Price,
  }: Pick<SigningContext & SenderState, 'client' | 'fees' | 'l1Price'>,
  { unsigned, gas }: BundleGas,
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
  const message = `Gas on ${chain.name} exceeds the gas budget of an operation.`
  throw new ServiceError('RPC_ERROR', message, { waitsFor: 'GAS_PRICE' } satisfies Held)
}
