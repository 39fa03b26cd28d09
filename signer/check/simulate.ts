import { keccak256, toQuantity } from 'ethers'
import { askTwice } from '../../evm/rpc/askTwice.js'
import { isRevert, type ChainClient } from '../../evm/connect.js'
import {
  DELEGATED_CODE,
  DELEGATE_ADDRESS,
  DELEGATE_CODE_HASH,
  ENTRY_POINT_ADDRESS,
} from '../../evm/registry.js'
import { ServiceError } from '../../domain/errors.js'
import { explainRevert } from '../../evm/calls/reverts.js'
import { createCache } from '../../runtime/cache.js'
import type { SigningContext } from '../signingContext.js'

/**
 * Headroom, because running out of gas inside the call would waste the operation's key. On Arbitrum an estimate also
 * includes gas for posting the call's data on L1, which the inner call does not need.
 */
const CALL_GAS_PERCENT = 150n

type Simulated = { from: string; to: string; data: string }

/** Code of accounts during a simulation, by address. */
type Overrides = Record<string, { code: string }>

/** Why a call would fail. */
export type Refused = { reason: string }

/**
 * Simulates a wallet's call at the head as the EntryPoint would make it, with the wallet delegated. A `handleOps`
 * simulation would hide a failure inside, and would give the signed operation to the node before it is stored.
 *
 * @returns A gas limit for the call, or why it would fail.
 */
export async function estimateWalletCall(
  { client, head }: SigningContext,
  { wallet, data }: { wallet: string; data: string },
): Promise<bigint | Refused> {
  await assertDelegate(client)
  const call = { from: ENTRY_POINT_ADDRESS, to: wallet, data }
  return estimateCall(client, call, [toQuantity(head), { [wallet]: { code: DELEGATED_CODE } }])
}

/** @returns A gas limit for a call, or why it would fail. */
export async function estimateCall(
  client: ChainClient,
  call: Simulated,
  at: [block: string, overrides?: Overrides],
): Promise<bigint | Refused> {
  try {
    const gas = await askTwice(
      () => client.send<string>('eth_estimateGas', [call, ...at]),
      isRevert,
    )
    return (BigInt(gas) * CALL_GAS_PERCENT) / 100n
  } catch (error) {
    return { reason: reasonOf(error) }
  }
}

/** Why a call would fail; undefined when it would succeed. */
export async function findFailure(
  client: ChainClient,
  call: Simulated,
  at: [block: string, overrides?: Overrides],
): Promise<string | undefined> {
  try {
    await askTwice(() => client.send('eth_call', [call, ...at]), isRevert)
    return undefined
  } catch (error) {
    return reasonOf(error)
  }
}

/** @throws The error itself when it is not a revert. */
function reasonOf(error: unknown): string {
  if (!isRevert(error)) throw error
  const { data, reason } = error.details
  return explainRevert(data) ?? String(reason)
}

/** Cached without expiry: the delegate's address is derived from its code. */
const assertDelegate = createCache(async ({ chain, send }: ChainClient) => {
  const code = await send<string>('eth_getCode', [DELEGATE_ADDRESS, 'latest'])
  if (keccak256(code) === DELEGATE_CODE_HASH) return
  // The node is out of sync or serves another chain. Without code every call would seem to succeed.
  const found = code === '0x' ? 'no code' : 'other code than that of Simple7702Account v0.8'
  throw new ServiceError('RPC_ERROR', `${chain.name} has ${found} at ${DELEGATE_ADDRESS}.`)
})

/**
 * The account nonce for the wallet's authorization; undefined when its delegation is final and still there. A superfluous
 * authorization is harmless, so the nonce is also returned when the node has pruned the final state. Refused when the
 * account has code of its own: no authorization replaces that.
 */
export async function readAuthorizationNonce(
  { client, head }: Pick<SigningContext, 'client' | 'head'>,
  wallet: string,
): Promise<bigint | undefined | Refused> {
  const codeAt = (block: string) => client.send<string | null>('eth_getCode', [wallet, block])
  const at = toQuantity(head)
  const [final, current, count] = await Promise.all([
    codeAt('finalized').catch(() => null),
    codeAt(at),
    client.send<string>('eth_getTransactionCount', [wallet, at]),
  ])
  if (isDelegated(current)) {
    if (isDelegated(final)) return undefined
    // A reorg that removes the delegation also gives back the nonce that it has used.
    return BigInt(count) === 0n ? 0n : BigInt(count) - 1n
  }
  const isReplaceable = !current || current === '0x' || current.startsWith(DELEGATION_PREFIX)
  return isReplaceable ? BigInt(count) : { reason: 'the account of the wallet has code of its own' }
}

/** @see https://eips.ethereum.org/EIPS/eip-7702: code of an account that delegates */
const DELEGATION_PREFIX = '0xef0100'
const isDelegated = (code: string | null) => code?.toLowerCase() === DELEGATED_CODE
