import { keccak256, toQuantity } from 'ethers'
import type { Sent } from './sent.js'

/** JSON-RPC error code of geth for errors without a code of their own. */
const REFUSED = -32_000
/** Far more nonces than can be pending at once. Bounds the memory of a node that runs for days. */
const MOST_NONCES = 10_000

/** Any request to the node behind the front. */
type RequestNode = <T>(method: string, params: unknown[]) => Promise<T>

/** The rejection of a transaction; undefined when it may pass. */
export type PoolRule = (
  ask: RequestNode,
  sent: Sent,
) => Promise<{ code: number; message: string } | undefined>

type PooledTransaction = {
  hash: string
  blockNumber: string | null
  gasPrice?: string
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
}

/**
 * Stand-in for geth's rule for replacement transactions: both fees must be at least a tenth higher. anvil requires
 * only one percent, so this rule runs before it.
 *
 * @returns The rule. It remembers the nonces that it has seen: for a new nonce no transaction can be pending.
 * @see https://github.com/ethereum/go-ethereum/blob/master/core/txpool/legacypool/list.go
 */
export function createPoolRule(): PoolRule {
  const seen = new Set<string>()
  return async (ask, sent) => {
    const key = `${sent.chainId}/${sent.nonce}`
    const isNew = !seen.has(key)
    if (seen.size >= MOST_NONCES) seen.clear()
    seen.add(key)
    if (isNew) return undefined
    const sender = sent.sender()
    if (!sender) return undefined
    const place = [sender, toQuantity(sent.nonce)]
    const before = await ask<PooledTransaction | null>('eth_getTransactionBySenderAndNonce', place)
    if (before?.blockNumber !== null || isDearer(before, sent)) return undefined
    if (before.hash === keccak256(sent.bytes)) return undefined
    return { code: REFUSED, message: 'replacement transaction underpriced' }
  }
}

function isDearer(
  { gasPrice, ...before }: PooledTransaction,
  { maxFeeWei, tipWei }: Sent,
): boolean {
  const { maxFeePerGas = gasPrice, maxPriorityFeePerGas = gasPrice } = before
  return isRaised(maxFeePerGas, maxFeeWei) && isRaised(maxPriorityFeePerGas, tipWei)
}

function isRaised(before: string | undefined, wei: bigint): boolean {
  const beforeWei = BigInt(before ?? 0)
  return wei > beforeWei && wei >= (beforeWei * 110n) / 100n
}
