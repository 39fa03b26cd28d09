import { recoverAddress, verifyAuthorization, verifyTypedData } from 'ethers'
import { DELEGATE_ADDRESS, type Chain } from '../chains/registry.js'
import { refusal } from '../custody/policy.js'
import { findBurn } from '../db/lanes/burns.js'
import { demoFunding } from '../domain/funding.js'
import { chainKeyOf, operationId } from '../lanes/operationId.js'
import { allBridges } from '../protocols/bridges/bridges.js'
import {
  buildUserOperation,
  bundledGas,
  callGasOf,
  hashUserOperation,
} from '../protocols/userOperation.js'
import {
  FUNDING_GAS,
  authorizations,
  encodeCancellation,
  encodeTransfer,
  typedCancellation,
  typedTransfer,
  type Authorization,
  type Signed,
} from './payload.js'
import type { Db } from '../db/connection/connect.js'
import type { WalletSecret } from '../db/keys.js'
import type { Operation } from '../db/lanes/operations.js'
import type { Call } from '../domain/operation.js'
import type { Keyring } from './round.js'

/** Largest execution gas of one bundle; below the transaction cap of EIP-7825. */
export const BUNDLE_GAS = 15_000_000n

/**
 * The key makes an effect happen once: it follows from the effect, not from what the row says.
 *
 * @throws {ServiceError} INTERNAL when the row's id or key is another one.
 */
export function assertKey({ id, intentId, sequence, kind, chainKey }: Operation): void {
  const own = operationId(intentId, sequence, kind)
  if (id === own && (kind === 'mint' || chainKey === chainKeyOf(kind, own))) return
  throw refusal('the key must be that of the effect.')
}

/**
 * The key of an operation's wallet. Keys bind each to the account of the other in the database already; what
 * is sealed to another account cannot be opened.
 *
 * @throws {ServiceError} INTERNAL when the wallet is another account's.
 */
export function assertOwn(
  { walletId, accountId }: Pick<Operation, 'walletId' | 'accountId'>,
  secret: WalletSecret | undefined,
): WalletSecret {
  if (!secret) throw new Error(`Wallet ${walletId} has no key.`)
  if (secret.accountId === accountId) return secret
  throw refusal('the wallet must be of the same account.')
}

/**
 * Proves that what is stored as signed was signed by us for this operation: whose it is, under which
 * key, and by whom it is signed is computed anew. No row makes a lane carry anything else.
 *
 * @param db - The transaction in which the operation is locked.
 * @throws {ServiceError} INTERNAL that says what is required.
 */
export async function assertGenuine(
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
 * The same but for who has signed it, which needs no proof of what this process has signed a moment ago: by the
 * very key that it has opened for the wallet's address.
 *
 * @throws {ServiceError} INTERNAL that says what is required.
 */
export async function assertBound(
  { db, keyring }: BindingTools,
  chain: Chain,
  signed: Signed,
): Promise<void> {
  assertKey(signed.operation)
  if (BigInt(signed.operation.chainId) !== BigInt(chain.chainId)) {
    throw refusal('the operation must be of the chain.')
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
  if (!userOperation || call) throw refusal('what is signed must be a user operation.')
  const callGas = callGasOf(userOperation)
  // What is called was checked before it was signed, which the signature proves.
  const { callData, signature } = userOperation
  const { chainKey: key } = operation
  const draft = buildUserOperation({ sender: wallet, key, callData, callGas })
  if (!isSame({ ...draft, signature }, userOperation)) {
    throw refusal('the user operation must be of its wallet and key.')
  }
  if (BigInt(gas) !== bundledGas(callGas) || BigInt(gas) > BUNDLE_GAS) {
    throw refusal('the gas must be that of the user operation, and within bounds.')
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
  const isOurs = address === DELEGATE_ADDRESS && nonce === '0' && given.chainId === `${chainId}`
  const signer = recover(() => verifyAuthorization({ address, nonce: 0n, chainId }, signature))
  if (!isOurs || signer !== wallet) throw refusal('the delegation must be that of the wallet.')
}

/** What the treasury has signed of a payment, or of taking it back, and its signature. */
function readPayment(chain: Chain, from: string, { operation, wallet, payload }: Signed) {
  const { call, userOperation, authorization, gas } = payload
  const isAlone = call && !userOperation && !authorization && BigInt(gas) === FUNDING_GAS
  if (!isAlone) throw refusal('what is signed must be a payment of the treasury.')
  const { chainKey: nonce } = operation
  const { isCancellation, signature } = recover(() => readAuthorization(call)) ?? { signature: '' }
  const typed = isCancellation
    ? typedCancellation(chain, { authorizer: from, nonce })
    : typedTransfer(chain, { from, to: wallet, value: demoFunding.units, nonce })
  const encode = isCancellation ? encodeCancellation : encodeTransfer
  const expected = recover(() => encode(chain, typed, signature))
  if (!isSame(expected, call)) throw refusal('the payment must be that of the funding.')
  return { typed, signature }
}

function assertPaidBy(chain: Chain, from: string, signed: Signed): void {
  const { typed, signature } = readPayment(chain, from, signed)
  const { domain, types, message } = typed
  if (recover(() => verifyTypedData(domain, types, message, signature)) !== from) {
    throw refusal('the payment must be signed by the treasury.')
  }
}

/** What a call of the treasury does, and the signature that it carries in one of the two ways in which tokens take it. */
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
  if (!isAlone || !message || !attestation) throw refusal('a mint must be of an attested message.')
  const isOurs = allBridges.some((bridge) => {
    if (!isSame(bridge.encodeMint(chain, { message, attestation }), call)) return false
    const { nonce, recipient } = bridge.readMessage(message)
    return nonce === chainKey && recipient === wallet && bridge.leadsTo(chain, message)
  })
  if (!isOurs) throw refusal('the message must be that of the burn.')
}

/** True when a stored object has exactly the fields that are expected of it. Addresses compare as text. */
function isSame(expected: object | undefined, stored: object): boolean {
  if (!expected) return false
  const sorted = (value: object) => JSON.stringify(Object.entries(value).sort())
  return sorted(expected) === sorted(stored)
}

/** What cannot be decoded or recovered is nobody's. */
function recover<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
