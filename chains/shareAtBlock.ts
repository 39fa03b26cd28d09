import { createCache } from '../cache.js'
import type { ChainClient } from './connect.js'
import type { BlockRef } from './read.js'

/** Of one chain, by one function: those of the last blocks that were planned at. */
const KEPT_ANSWERS = 1_000

/**
 * Asks once for each chain, block and key, and shares the answer with everybody who asks at that block: nothing of a
 * block that is named by its hash ever changes. What is asked at a block that is named otherwise is not shared.
 *
 * @param keyOf - Tells apart what is asked of one chain at one block. Absent: it is always the same.
 */
export function shareAtBlock<At extends { block: BlockRef }, Answer>(
  ask: (client: ChainClient, at: At) => Promise<Answer>,
  keyOf: (at: At) => string = () => '',
): (client: ChainClient, at: At) => Promise<Answer> {
  const caches = new WeakMap<ChainClient, (at: At) => Promise<Answer>>()
  const idOf = (at: At) => `${JSON.stringify(at.block)} ${keyOf(at)}`
  return (client, at) => {
    const { block } = at
    if (typeof block === 'string' || !('blockHash' in block)) return ask(client, at)
    const read =
      caches.get(client) ??
      createCache((asked: At) => ask(client, asked), { max: KEPT_ANSWERS, keyOf: idOf })
    caches.set(client, read)
    return read(at)
  }
}
