import type { ChainClient } from './connect.js'
import type { BlockRef } from './read.js'

/** The block that is planned at, and the one before for those who have begun there. */
const KEPT_BLOCKS = 2
/** Of one block, by one function: more than are asked about there. */
const KEPT_ANSWERS = 1_000

/** Answers of one chain by block hash and by key. The oldest come first. */
type Kept<Answer> = Map<string, Map<string, Promise<Answer>>>

/**
 * Asks once for each chain, block and key, and shares the answer with everybody who asks at that block: nothing of a
 * block that is named by its hash ever changes. A block of another hash is another one, whatever its number. A failure
 * is told to those who wait for it and is not kept; what is asked at a block that is named otherwise is not shared.
 *
 * @param keyOf - Tells apart what is asked of one chain at one block. Absent: it is always the same.
 */
export function shareAtBlock<At extends { block: BlockRef }, Answer>(
  ask: (client: ChainClient, at: At) => Promise<Answer>,
  keyOf: (at: At) => string = () => '',
): (client: ChainClient, at: At) => Promise<Answer> {
  const keptOf = new WeakMap<ChainClient, Kept<Answer>>()
  return (client, at) => {
    const { block } = at
    if (typeof block === 'string' || !('blockHash' in block)) return ask(client, at)
    const kept = keptOf.get(client) ?? new Map<string, Map<string, Promise<Answer>>>()
    keptOf.set(client, kept)
    const answers = kept.get(block.blockHash) ?? new Map<string, Promise<Answer>>()
    if (answers.size === 0) keepAtMost(kept, KEPT_BLOCKS - 1)
    kept.set(block.blockHash, answers)
    const key = keyOf(at)
    const known = answers.get(key)
    if (known) return known
    keepAtMost(answers, KEPT_ANSWERS - 1)
    const answer = ask(client, at)
    answers.set(key, answer)
    answer.catch(() => {
      if (answers.get(key) === answer) answers.delete(key)
    })
    return answer
  }
}

/** Drops the oldest of more entries. */
function keepAtMost(entries: Map<string, unknown>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= most) return
    entries.delete(key)
  }
}
