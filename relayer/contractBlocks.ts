import { readContractBlock } from '../evm/read.js'
import { MAX_NOTIFY_WAIT_MS } from '../runtime/durations.js'
import type { Chains } from '../evm/connect.js'

/**
 * Returns the block number that the contracts of a chain see, without waiting for the chain. A stale number is
 * refreshed in the background and returned until then: it can only be too low. Undefined before the first answer.
 */
export function watchContractBlocks(
  chains: Chains,
  lookMs = MAX_NOTIFY_WAIT_MS,
): (chainId: number) => bigint | undefined {
  const known = new Map<number, bigint>()
  const askedAt = new Map<number, number>()
  return (chainId) => {
    const now = Date.now()
    if (now - (askedAt.get(chainId) ?? 0) >= lookMs) {
      askedAt.set(chainId, now)
      readContractBlock(chains.byId(chainId)).then(
        (block) => known.set(chainId, block),
        // The indexer of the chain logs the failure.
        () => undefined,
      )
    }
    return known.get(chainId)
  }
}
