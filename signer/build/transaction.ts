import { Transaction, keccak256, type Wallet } from 'ethers'
import { highestL1Part } from '../../evm/l1Costs.js'
import { encodeTogether } from '../../evm/calls/multicall.js'
import { ENTRY_POINT_ADDRESS } from '../../evm/registry.js'
import { encodeBundle, gasLimitOf } from '../../evm/calls/userOperation.js'
import type { Call } from '../../domain/intent/operation.js'
import type { Sender } from '../../operations/signing/signing.js'
import type { Authorization, Signed } from './payload.js'
import type { SenderState, SigningContext } from '../signingContext.js'

/** A transaction that a sender or the treasury signs. Amounts in wei. */
export type UnsignedTransaction = {
  chainId: number | bigint
  nonce: number | bigint
  to: string
  data: string
  value?: bigint
  gasLimit: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  /** EIP-7702 delegations of wallets. */
  authorizationList?: Authorization[]
}

/** A transaction without its nonce. `l1FeeWei`: highest fee for posting it on L1, in addition to its gas. */
export type Planned = { request: Omit<UnsignedTransaction, 'nonce'>; l1FeeWei: bigint }

/** The transaction in which a sender includes signed operations. */
export function planTransaction(
  { client: { chain }, sender, fees, l1Price }: SigningContext & SenderState,
  included: Signed[],
): Planned {
  const { to, data } = callOf(sender, included)
  const authorizationList = authorizationsOf(included)
  const gas = included.reduce((sum, { payload }) => sum + BigInt(payload.gas), 0n)
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

/** One per wallet: a duplicate has no effect and costs the same gas. */
function authorizationsOf(included: Signed[]): Authorization[] {
  const all = included.flatMap(({ payload }) => payload.authorization ?? [])
  return [...new Map(all.map((one) => [one.signature, one])).values()]
}

/**
 * Bundles user operations through the EntryPoint, and payments and mints through Multicall3. Each operation may fail
 * alone, and neither contract depends on the caller. A single payment or mint is called directly.
 */
export function callOf(sender: Pick<Sender, 'address'>, included: Pick<Signed, 'payload'>[]): Call {
  const [direct, ...others] = included.flatMap(({ payload }) => payload.call ?? [])
  if (direct) return others.length === 0 ? direct : encodeTogether([direct, ...others])
  const operations = included.flatMap(({ payload }) => payload.userOperation ?? [])
  return { to: ENTRY_POINT_ADDRESS, data: encodeBundle(operations, sender.address) }
}

/** Transaction types: EIP-7702 with delegations, EIP-1559 without. */
const DELEGATING = 4
const USUAL = 2

/**
 * Signs a transaction by the key of its sender.
 *
 * @returns The raw bytes for `eth_sendRawTransaction`, and their hash.
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
