import { verifyAuthorization, verifyTypedData } from 'ethers'
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
  typedUserOperation,
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
 * Proves that what a lane is about to carry was signed by us for this operation: whose it is, under which
 * key, and by whom it is signed is computed anew. No row makes a lane carry anything else.
 *
 * @param db - The transaction in which the operation is locked.
 * @throws {ServiceError} INTERNAL that says what is required.
 */
export async function assertGenuine(
  { db, keyring }: { db: Db; keyring: Keyring },
  chain: Chain,
  signed: Signed,
): Promise<void> {
  assertKey(signed.operation)
  if (BigInt(signed.operation.chainId) !== BigInt(chain.chainId)) {
    throw refusal('the operation must be of the chain.')
  }
  switch (signed.operation.kind) {
    case 'fund':
      assertFunding(chain, keyring.treasury.address, signed)
      return
    case 'mint':
      return assertMint(db, chain, signed)
    default:
      assertUserOperation(chain, signed)
  }
}

function assertUserOperation(chain: Chain, { operation, wallet, payload }: Signed): void {
  const { userOperation, call, authorization, gas } = payload
  if (!userOperation || call) throw refusal('what is signed must be a user operation.')
  const callGas = callGasOf(userOperation)
  const shape = buildUserOperation({ sender: wallet, key: operation.chainKey, calls: [], callGas })
  // What is called was checked before it was signed, which the signature proves.
  const expected = { ...shape, callData: userOperation.callData }
  if (!isSame({ ...expected, signature: userOperation.signature }, userOperation)) {
    throw refusal('the user operation must be of its wallet and key.')
  }
  if (BigInt(gas) !== bundledGas(callGas) || BigInt(gas) > BUNDLE_GAS) {
    throw refusal('the gas must be that of the user operation, and within bounds.')
  }
  const { domain, types, message } = typedUserOperation(chain.chainId, expected)
  const { signature } = userOperation
  const signer = recover(() => verifyTypedData(domain, types, message, signature))
  if (signer !== wallet) throw refusal('the user operation must be signed by its wallet.')
  if (authorization) assertAuthorization(chain, wallet, authorization)
}

function assertAuthorization({ chainId }: Chain, wallet: string, given: Authorization): void {
  const { address, nonce, signature } = given
  const isOurs = address === DELEGATE_ADDRESS && nonce === '0' && given.chainId === `${chainId}`
  const signer = recover(() => verifyAuthorization({ address, nonce: 0n, chainId }, signature))
  if (!isOurs || signer !== wallet) throw refusal('the delegation must be that of the wallet.')
}

function assertFunding(chain: Chain, from: string, { operation, wallet, payload }: Signed): void {
  const { call, userOperation, authorization, gas } = payload
  const isAlone = call && !userOperation && !authorization && BigInt(gas) === FUNDING_GAS
  if (!isAlone) throw refusal('what is signed must be a payment of the treasury.')
  const { chainKey: nonce } = operation
  const typed =
    nameOf(call) === 'cancelAuthorization'
      ? typedCancellation(chain, { authorizer: from, nonce })
      : typedTransfer(chain, { from, to: wallet, value: demoFunding.units, nonce })
  const encode = nameOf(call) === 'cancelAuthorization' ? encodeCancellation : encodeTransfer
  const signature = recover(() => signatureOf(call)) ?? ''
  const expected = recover(() => encode(chain, typed, signature))
  if (!isSame(expected, call)) throw refusal('the payment must be that of the funding.')
  const { domain, types, message } = typed
  if (recover(() => verifyTypedData(domain, types, message, signature)) !== from) {
    throw refusal('the payment must be signed by the treasury.')
  }
}

const nameOf = (call: Call) => recover(() => authorizations.parseTransaction(call)?.name ?? '')

/** The signature that a call of the treasury carries, in one of the two ways in which tokens take it. */
function signatureOf(call: Call): string {
  const args = authorizations.parseTransaction(call)?.args
  if (args?.length === 3) return args[2] as string
  const [v, r, s] = args?.slice(6) as unknown as [bigint, string, string]
  return `${r}${s.slice(2)}${v.toString(16).padStart(2, '0')}`
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
