import { readContractBlock } from '../chains/read.js'
import { LOOK_MS } from '../durations.js'
import type { Chains } from '../chains/connect.js'

/**
 * Tells what the contracts of a chain see as the block's number, as far as it is known: nobody waits for the
 * chain. A number that is not fresh is read anew meanwhile; until then the one before it is told, which can
 * only be too low. Undefined before the first answer.
 */
export function watchContractBlocks(
  chains: Chains,
  lookMs = LOOK_MS,
): (chainId: number) => bigint | undefined {
  const known = new Map<number, bigint>()
  const askedAt = new Map<number, number>()
  return (chainId) => {
    const now = Date.now()
    if (now - (askedAt.get(chainId) ?? 0) >= lookMs) {
      askedAt.set(chainId, now)
      readContractBlock(chains.byId(chainId)).then(
        (block) => known.set(chainId, block),
        // Whoever drives the chain tells that it is silent.
        () => undefined,
      )
    }
    return known.get(chainId)
  }
}
