import { keccak256, toQuantity } from 'ethers'
import type { Sent } from './sent.js'

/** JSON-RPC: the code of geth for whatever has none of its own. */
const REFUSED = -32_000
/** Far more nonces than wait anywhere at once: a node may run for days. */
const MOST_NONCES = 10_000

/** Any request to the node behind. */
type Ask = <T>(method: string, params: unknown[]) => Promise<T>

/** The refusal of a transaction, undefined when it may pass. */
export type PoolRule = (
  ask: Ask,
  sent: Sent,
) => Promise<{ code: number; message: string } | undefined>

type Waiting = {
  hash: string
  blockNumber: string | null
  gasPrice?: string
  maxFeePerGas?: string
  maxPriorityFeePerGas?: string
}

/**
 * Stand-in for what geth's pool asks of bytes that shall take the place of others: both fees at least a tenth higher,
 * and higher in any case. anvil takes them at one percent more, so that this is asked before it.
 *
 * @returns The rule, which remembers the nonces that it saw: of a new one nothing can wait, whoever its sender is.
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
    const before = await ask<Waiting | null>('eth_getTransactionBySenderAndNonce', place)
    if (before?.blockNumber !== null || isDearer(before, sent)) return undefined
    if (before.hash === keccak256(sent.bytes)) return undefined
    return { code: REFUSED, message: 'replacement transaction underpriced' }
  }
}

function isDearer({ gasPrice, ...before }: Waiting, { maxFeeWei, tipWei }: Sent): boolean {
  const { maxFeePerGas = gasPrice, maxPriorityFeePerGas = gasPrice } = before
  return isRaised(maxFeePerGas, maxFeeWei) && isRaised(maxPriorityFeePerGas, tipWei)
}

function isRaised(before: string | undefined, wei: bigint): boolean {
  const beforeWei = BigInt(before ?? 0)
  return wei > beforeWei && wei >= (beforeWei * 110n) / 100n
}
