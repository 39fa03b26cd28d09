import { recoverAddress, verifyAuthorization, verifyTypedData } from 'ethers'
import { DELEGATE_ADDRESS, type Chain } from '../../evm/registry.js'
import { refusal } from '../../custody/policy.js'
import { findBurn } from '../../operations/burns.js'
import { demoFunding } from '../../domain/intent/funding.js'
import { chainKeyOf, operationId } from '../../operations/operationId.js'
import { allBridges } from '../../evm/bridges/bridges.js'
import {
  buildUserOperation,
  bundledGas,
  callGasOf,
  hashUserOperation,
} from '../../evm/calls/userOperation.js'
import {
  FUNDING_GAS,
  authorizations,
  encodeCancellation,
  encodeTransfer,
  typedCancellation,
  typedTransfer,
  type Authorization,
  type Signed,
} from '../build/payload.js'
import type { Db } from '../../db/client/connect.js'
import type { WalletSecret } from '../../db/keys.js'
import type { Operation } from '../../operations/operations.js'
import type { Call } from '../../domain/intent/operation.js'
import type { Keyring } from '../signingContext.js'

/** Largest execution gas of one bundle; below the transaction cap of EIP-7825. */
export const BUNDLE_GAS = 15_000_000n

/**
 * The key makes an effect happen once, so it is derived from the effect and never read from the row.
 *
 * @throws {ServiceError} INTERNAL when the id or key of the row differs.
 */
export function assertKey({ id, intentId, sequence, kind, chainKey }: Operation): void {
  const own = operationId(intentId, sequence, kind)
  if (id === own && (kind === 'mint' || chainKey === chainKeyOf(kind, own))) return
  throw refusal('the key must be that of the effect.')
}

/**
 * The sealed key of an operation's wallet. Foreign keys already bind both to one account, and a key sealed for
 * another account cannot be opened.
 *
 * @throws {ServiceError} INTERNAL when the wallet belongs to another account.
 */
export function assertOwn(
  { walletId, accountId }: Pick<Operation, 'walletId' | 'accountId'>,
  secret: WalletSecret | undefined,
): WalletSecret {
  if (!secret) throw new Error(`Wallet ${walletId} has no key.`)
  if (secret.accountId === accountId) return secret
  throw refusal('the wallet must belong to the same account.')
}

/**
 * Proves that a stored signature is ours and belongs to this operation: wallet, key and signer are recomputed. No row
 * makes a sender include anything else.
 *
 * @param db - The transaction in which the operation is locked.
 * @throws {ServiceError} INTERNAL with the failed requirement.
 */
export async function verifyStoredSignature(
  tools: BindingTools,
  chain: Chain,
  signed: Signed,
): Promise<void> {
  await assertBound(tools, chain, signed)
  if (signed.operation.kind === 'mint') return
  if (signed.operation.kind === 'fund') assertPaidBy(chain, tools.keyring.treasury.address, signed)
  else assertSignedByWallet(chain, signed)
}

type BindingTools = { db: Db; keyring: Keyring }

/**
 * The same without the signer's identity. A payload that this process has just signed with the wallet's own key needs
 * no such proof.
 *
 * @throws {ServiceError} INTERNAL with the failed requirement.
 */
export async function assertBound(
  { db, keyring }: BindingTools,
  chain: Chain,
  signed: Signed,
): Promise<void> {
  assertKey(signed.operation)
  if (BigInt(signed.operation.chainId) !== BigInt(chain.chainId)) {
    throw refusal('the operation must belong to the chain.')
  }
  switch (signed.operation.kind) {
    case 'fund':
      readPayment(chain, keyring.treasury.address, signed)
      return
    case 'mint':
      return assertMint(db, chain, signed)
    default:
      assertUserOperation(signed)
  }
}

function assertUserOperation({ operation, wallet, payload }: Signed): void {
  const { userOperation, call, gas } = payload
  if (!userOperation || call) throw refusal('the payload must be a user operation.')
  const callGas = callGasOf(userOperation)
  // The calls were checked before the signature, which covers them.
  const { callData, signature } = userOperation
  const { chainKey: key } = operation
  const draft = buildUserOperation({ sender: wallet, key, callData, callGas })
  if (!isSame({ ...draft, signature }, userOperation)) {
    throw refusal('the user operation must match its wallet and key.')
  }
  if (BigInt(gas) !== bundledGas(callGas) || BigInt(gas) > BUNDLE_GAS) {
    throw refusal('the gas must match the user operation and stay within bounds.')
  }
}

function assertSignedByWallet(chain: Chain, { wallet, payload }: Signed): void {
  const { userOperation, authorization } = payload
  const signer =
    userOperation &&
    recover(() => {
      return recoverAddress(
        hashUserOperation(chain.chainId, userOperation),
        userOperation.signature,
      )
    })
  if (signer !== wallet) throw refusal('the user operation must be signed by its wallet.')
  if (authorization) assertAuthorization(chain, wallet, authorization)
}

function assertAuthorization({ chainId }: Chain, wallet: string, given: Authorization): void {
  const { address, nonce, signature } = given
  const isOurs = address === DELEGATE_ADDRESS && given.chainId === `${chainId}`
  const signer = recover(() =>
    verifyAuthorization({ address, nonce: BigInt(nonce), chainId }, signature),
  )
  if (!isOurs || signer !== wallet) throw refusal('the delegation must be signed by the wallet.')
}

/** What the treasury has signed for a payment or its cancellation, and the signature. */
function readPayment(chain: Chain, from: string, { operation, wallet, payload }: Signed) {
  const { call, userOperation, authorization, gas } = payload
  const isAlone = call && !userOperation && !authorization && BigInt(gas) === FUNDING_GAS
  if (!isAlone) throw refusal('the payload must be a payment of the treasury.')
  const { chainKey: nonce } = operation
  const { isCancellation, signature } = recover(() => readAuthorization(call)) ?? { signature: '' }
  const typed = isCancellation
    ? typedCancellation(chain, { authorizer: from, nonce })
    : typedTransfer(chain, { from, to: wallet, value: demoFunding.units, nonce })
  const encode = isCancellation ? encodeCancellation : encodeTransfer
  const expected = recover(() => encode(chain, typed, signature))
  if (!isSame(expected, call)) throw refusal('the payment must match the funding.')
  return { typed, signature }
}

function assertPaidBy(chain: Chain, from: string, signed: Signed): void {
  const { typed, signature } = readPayment(chain, from, signed)
  const { domain, types, message } = typed
  if (recover(() => verifyTypedData(domain, types, message, signature)) !== from) {
    throw refusal('the payment must be signed by the treasury.')
  }
}

/** Kind and signature of a treasury call. Tokens accept the signature as bytes or as v, r, s. */
function readAuthorization(call: Call): { isCancellation: boolean; signature: string } {
  const { name, args } = authorizations.parseTransaction(call) ?? {}
  if (name === 'cancelAuthorization') return { isCancellation: true, signature: String(args?.[2]) }
  const [v, r, s] = args?.slice(6) as unknown as [bigint, string, string]
  const signature = `${r}${s.slice(2)}${v.toString(16).padStart(2, '0')}`
  return { isCancellation: false, signature }
}

async function assertMint(db: Db, chain: Chain, { operation, wallet, payload }: Signed) {
  const { intentId, sequence, chainKey } = operation
  const { call, userOperation, authorization, gas } = payload
  const burn = await findBurn(db, operationId(intentId, sequence, 'bridge'))
  const { message, attestation } = burn ?? {}
  const isAlone = call && !userOperation && !authorization && BigInt(gas) <= BUNDLE_GAS
  if (!isAlone || !message || !attestation) throw refusal('a mint must have an attested message.')
  const isOurs = allBridges.some((bridge) => {
    if (!isSame(bridge.encodeMint(chain, { message, attestation }), call)) return false
    const { nonce, recipient } = bridge.readMessage(message)
    return nonce === chainKey && recipient === wallet && bridge.leadsTo(chain, message)
  })
  if (!isOurs) throw refusal('the message must match the burn.')
}

/** True when a stored object has exactly the expected fields. Addresses compare as text. */
function isSame(expected: object | undefined, stored: object): boolean {
  if (!expected) return false
  const sorted = (value: object) => JSON.stringify(Object.entries(value).sort())
  return sorted(expected) === sorted(stored)
}

/** Undefined when decoding or recovery fails. */
function recover<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
