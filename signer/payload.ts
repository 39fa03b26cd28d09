import { Interface, MaxUint256, Signature, type TypedDataDomain } from 'ethers'
import { openAccount } from '../custody/open.js'
import { DELEGATE_ADDRESS, type Chain } from '../chains/registry.js'
import { tokenDomain } from '../chains/tokenDomain.js'
import { typedUserOperation, type UserOperation } from '../protocols/userOperation.js'
import type { Operation } from '../db/lanes/operations.js'
import type { Call } from '../domain/operation.js'
import type { Prepared } from './prepare.js'
import type { Keyring } from './round.js'

/** The key of an account that has signed that another one's code is its own. @see https://eips.ethereum.org/EIPS/eip-7702 */
export type Authorization = { address: string; nonce: string; chainId: string; signature: string }

/** What was signed for an operation, as it is kept: enough to carry it in another transaction. */
export type Payload = {
  gas: string
  userOperation?: UserOperation
  call?: Call
  authorization?: Authorization
}

/** An operation that is about to be carried, the address of its wallet, and what was signed for it. */
export type Signed = { operation: Operation; wallet: string; payload: Payload }

/** transferWithAuthorization, measured at 86,000; a proxy and a first balance cost more. */
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

/** What the treasury signs: where it is valid, of which shape, and what it says. */
type Typed = {
  domain: TypedDataDomain
  types: Record<string, { name: string; type: string }[]>
  message: Record<string, string | bigint>
}

/** EIP-712 data of a payment by the treasury. `nonce` is the key of its operation. */
export function typedTransfer(
  chain: Chain,
  transfer: { from: string; to: string; value: bigint; nonce: string },
): Typed {
  const { from, to, value, nonce } = transfer
  // No expiry: an unexecuted authorization must stay the only way to pay this funding.
  const message = { from, to, value, validAfter: 0n, validBefore: MaxUint256, nonce }
  return { domain: tokenDomain(chain, chain.usdc), types: transferTypes, message }
}

/** EIP-712 data that takes back a payment which was not executed yet: the token does only one of the two. */
export function typedCancellation(
  chain: Chain,
  message: { authorizer: string; nonce: string },
): Typed {
  return { domain: tokenDomain(chain, chain.usdc), types: cancelTypes, message }
}

export function encodeTransfer(chain: Chain, { message }: Typed, signature: string): Call {
  const { v, r, s } = Signature.from(signature)
  const args = [...Object.values(message), v, r, s]
  const data = authorizations.encodeFunctionData('transferWithAuthorization', args)
  return { to: chain.usdc.address, data }
}

export function encodeCancellation(chain: Chain, { message }: Typed, signature: string): Call {
  const args = [...Object.values(message), signature]
  return {
    to: chain.usdc.address,
    data: authorizations.encodeFunctionData('cancelAuthorization', args),
  }
}

/** Signs what was prepared; of a mint there is nothing to sign. */
export async function signPrepared(
  keyring: Keyring,
  chain: Chain,
  prepared: Prepared,
): Promise<Signed> {
  const { operation } = prepared
  const gas = prepared.gas.toString()
  switch (prepared.kind) {
    case 'mint':
      return { operation, wallet: prepared.wallet, payload: { gas, call: prepared.call } }
    case 'funding': {
      const call = await signFunding(keyring, chain, prepared)
      return { operation, wallet: prepared.to, payload: { gas, call } }
    }
    case 'userOperation': {
      const payload = await signUserOperation(keyring, chain, prepared)
      return { operation, wallet: prepared.secret.address, payload: { gas, ...payload } }
    }
  }
}

async function signUserOperation(
  keyring: Keyring,
  { chainId }: Chain,
  { secret, draft, needsAuthorization }: Extract<Prepared, { kind: 'userOperation' }>,
): Promise<Pick<Payload, 'userOperation' | 'authorization'>> {
  const wallet = await openAccount(keyring.kek, secret.sealed, {
    purpose: 'wallet',
    owner: secret.walletId,
    ...secret,
  })
  const typed = typedUserOperation(chainId, draft)
  const signature = await wallet.signTypedData(typed.domain, typed.types, typed.message)
  const userOperation = { ...draft, signature }
  if (!needsAuthorization) return { userOperation }
  // Wallets send no transactions of their own, so that their account nonce is 0 until the delegation.
  const { signature: proof } = wallet.authorizeSync({
    address: DELEGATE_ADDRESS,
    nonce: 0,
    chainId,
  })
  const authorization = {
    address: DELEGATE_ADDRESS,
    nonce: '0',
    chainId: chainId.toString(),
    signature: proof.serialized,
  }
  return { userOperation, authorization }
}

async function signFunding(
  keyring: Keyring,
  chain: Chain,
  { to, units, operation }: Extract<Prepared, { kind: 'funding' }>,
): Promise<Call> {
  const { address: from } = keyring.treasury
  const typed = typedTransfer(chain, { from, to, value: units, nonce: operation.chainKey })
  return encodeTransfer(chain, typed, await signAsTreasury(keyring, typed))
}

/** The treasury takes back what it has signed for a funding, by the same key. */
export async function signCancellation(
  keyring: Keyring,
  chain: Chain,
  { chainKey: nonce }: Operation,
): Promise<Payload> {
  const typed = typedCancellation(chain, { authorizer: keyring.treasury.address, nonce })
  const call = encodeCancellation(chain, typed, await signAsTreasury(keyring, typed))
  return { gas: FUNDING_GAS.toString(), call }
}

async function signAsTreasury({ kek, treasury }: Keyring, typed: Typed): Promise<string> {
  const account = await openAccount(kek, treasury.sealed, treasuryContext(treasury))
  return account.signTypedData(typed.domain, typed.types, typed.message)
}

export const treasuryContext = (treasury: { address: string; kekId: string }) => ({
  purpose: 'treasury' as const,
  owner: treasury.address,
  accountId: '',
  address: treasury.address,
  kekId: treasury.kekId,
})
