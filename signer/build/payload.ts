import { Interface, MaxUint256, Signature, type TypedDataDomain } from 'ethers'
import type { Chain } from '../../evm/registry.js'
import { tokenDomain } from '../../evm/tokenDomain.js'
import type { UserOperation } from '../../evm/calls/userOperation.js'
import type { Operation } from '../../operations/operations.js'
import type { Call } from '../../domain/intent/operation.js'

/** A signed delegation of an account to the code of another one. @see https://eips.ethereum.org/EIPS/eip-7702 */
export type Authorization = { address: string; nonce: string; chainId: string; signature: string }

/** The stored signature of an operation: enough to include it in another transaction. */
export type Payload = {
  gas: string
  userOperation?: UserOperation
  call?: Call
  authorization?: Authorization
}

/** An operation to include, the address of its wallet, and its signature. */
export type Signed = { operation: Operation; wallet: string; payload: Payload }

/** Measured 86,000 for transferWithAuthorization. A proxy and a first balance cost more. */
export const FUNDING_GAS = 200_000n

/** @see https://eips.ethereum.org/EIPS/eip-3009 */
export const authorizations = new Interface([
  `function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter,
    uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)`,
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
])
const transferTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
}
const cancelTypes = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
}

/** EIP-712 typed data that the treasury signs. */
export type TypedData = {
  domain: TypedDataDomain
  types: Record<string, { name: string; type: string }[]>
  message: Record<string, string | bigint>
}

/** EIP-712 data of a payment by the treasury. `nonce` is the key of its operation. */
export function typedTransfer(
  chain: Chain,
  transfer: { from: string; to: string; value: bigint; nonce: string },
): TypedData {
  const { from, to, value, nonce } = transfer
  // No expiry: an unexecuted authorization must stay the only way to pay this funding.
  const message = { from, to, value, validAfter: 0n, validBefore: MaxUint256, nonce }
  return { domain: tokenDomain(chain, chain.usdc), types: transferTypes, message }
}

/** EIP-712 data that cancels a payment before its execution. The token accepts only one of the two. */
export function typedCancellation(
  chain: Chain,
  message: { authorizer: string; nonce: string },
): TypedData {
  return { domain: tokenDomain(chain, chain.usdc), types: cancelTypes, message }
}

export function encodeTransfer(chain: Chain, { message }: TypedData, signature: string): Call {
  const { v, r, s } = Signature.from(signature)
  const args = [...Object.values(message), v, r, s]
  const data = authorizations.encodeFunctionData('transferWithAuthorization', args)
  return { to: chain.usdc.address, data }
}

export function encodeCancellation(chain: Chain, { message }: TypedData, signature: string): Call {
  const args = [...Object.values(message), signature]
  const data = authorizations.encodeFunctionData('cancelAuthorization', args)
  return { to: chain.usdc.address, data }
}
