import { createCache } from '../runtime/cache.js'
import type { ChainClient } from './connect.js'
import type { BlockRef } from './read.js'

/** Answers kept per chain and function: those of the latest blocks. */
const KEPT_ANSWERS = 1_000

/**
 * Reads once per chain, block and key, and shares the answer with all callers: the state of a block given by its hash
 * never changes. A read at any other block reference is not shared.
 *
 * @param keyOf - Distinguishes reads of one chain at one block. Absent: all are equal.
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
