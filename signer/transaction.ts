import { Transaction, keccak256, type Wallet } from 'ethers'
import { highestL1Part } from '../chains/l1Costs.js'
import { encodeTogether } from '../chains/multicall.js'
import { ENTRY_POINT_ADDRESS } from '../chains/registry.js'
import { encodeBundle, gasLimitOf } from '../protocols/userOperation.js'
import type { Call } from '../domain/operation.js'
import type { Lane } from '../db/lanes/signing.js'
import type { Authorization, Signed } from './payload.js'
import type { Means, Round } from './round.js'

/** What a lane or the treasury is about to sign; amounts in wei. */
export type UnsignedTransaction = {
  chainId: number | bigint
  nonce: number | bigint
  to: string
  data: string
  value?: bigint
  gasLimit: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  /** Delegations that it brings with it. */
  authorizationList?: Authorization[]
}

/** A transaction without its nonce. `l1FeeWei`: the most that posting it may cost beside its gas. */
export type Planned = { request: Omit<UnsignedTransaction, 'nonce'>; l1FeeWei: bigint }

/** The transaction in which a lane carries what was signed. */
export function planTransaction(
  { client: { chain }, lane, fees, l1Price }: Round & Means,
  carried: Signed[],
): Planned {
  const { to, data } = callOf(lane, carried)
  const authorizationList = authorizationsOf(carried)
  const gas = carried.reduce((sum, { payload }) => sum + BigInt(payload.gas), 0n)
  const authorizations = authorizationList.length
  const l1 = highestL1Part(chain, l1Price, { data, authorizations })
  const request = {
    chainId: chain.chainId,
    to,
    data,
    gasLimit: gasLimitOf(data, authorizations, gas) + l1.gas,
    maxFeePerGas: fees.maxWei,
    maxPriorityFeePerGas: fees.tipWei,
    ...(authorizations > 0 ? { authorizationList } : {}),
  }
  return { request, l1FeeWei: l1.feeWei }
}

/** One for each wallet: a second one of the same has no effect, and costs as much gas. */
function authorizationsOf(carried: Signed[]): Authorization[] {
  const all = carried.flatMap(({ payload }) => payload.authorization ?? [])
  return [...new Map(all.map((one) => [one.signature, one])).values()]
}

/**
 * User operations travel together through the EntryPoint, payments and mints through Multicall3, where each may fail
 * alone: who calls makes no difference to either. A single call is sent where it leads.
 */
export function callOf(lane: Pick<Lane, 'sender'>, carried: Pick<Signed, 'payload'>[]): Call {
  const [direct, ...others] = carried.flatMap(({ payload }) => payload.call ?? [])
  if (direct) return others.length === 0 ? direct : encodeTogether([direct, ...others])
  const operations = carried.flatMap(({ payload }) => payload.userOperation ?? [])
  return { to: ENTRY_POINT_ADDRESS, data: encodeBundle(operations, lane.sender) }
}

/** Types of transactions: one with delegations, or one with fees of its own. */
const DELEGATING = 4
const USUAL = 2

/**
 * Signs a transaction by the key of its sender.
 *
 * @returns The bytes as nodes take them, and their hash.
 * @see https://eips.ethereum.org/EIPS/eip-1559 and https://eips.ethereum.org/EIPS/eip-7702
 */
export function signTransaction(
  { signingKey }: Pick<Wallet, 'signingKey'>,
  { nonce, authorizationList, ...unsigned }: UnsignedTransaction,
): { raw: string; hash: string } {
  const type = authorizationList ? DELEGATING : USUAL
  const transaction = Transaction.from({ ...unsigned, type, nonce: Number(nonce) })
  if (authorizationList) transaction.authorizationList = authorizationList
  transaction.signature = signingKey.sign(transaction.unsignedHash)
  const raw = transaction.serialized
  return { raw, hash: keccak256(raw) }
}
