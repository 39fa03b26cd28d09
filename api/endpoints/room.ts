import { setTimeout as sleep } from 'node:timers/promises'
import { countUnordered } from '../../db/intents/intents.js'
import { perPool } from '../../db/connection/gather.js'
import { createTurns } from '../../db/connection/turns.js'
import type { Db } from '../../db/connection/connect.js'

/**
 * So many workflows of an account may have been started of which no step is ordered yet, while another account brings
 * intents too. In its own time Temporal takes a start as soon as a step: a flood's starts would hold up everybody's
 * steps. What could not be started does not count, so that intents come in while Temporal is away.
 */
const MOST_UNORDERED = 16
/** Older ones wait for something else, such as a worker that is away, and do not count: 8 a second come in whatever is. */
const UNORDERED_MS = 2_000
/** Who has brought intents within this time is about. */
const ABOUT_MS = 5_000
const LOOK_MS = 50
/** So that the work is done before the time of an answer is over: few have room, and their turns come soon. */
const PATIENCE_MS = 8_000

/** An account that is about: when it brought an intent last, and how many it may bring before it is looked at again. */
type Caller = { seenAt: number; left: number }

/**
 * Resolves when there is room for another intent of an account: at once while no other one is about, in the order in
 * which they came otherwise. Each process knows its own callers; what they have brought is counted for all of them.
 *
 * @param db - A pool.
 * @throws {ServiceError} UNAVAILABLE when those before it take too long.
 */
export const waitForRoom = (db: Db, accountId: string): Promise<void> => roomOf(db)(accountId)

const roomOf = perPool((db) => {
  const turns = createTurns({ share: 1, patienceMs: PATIENCE_MS })
  const about = createAbout()
  const untilRoom = async (accountId: string, caller: Caller) => {
    while (about.hasOthers(accountId) && caller.left <= 0) {
      const unordered = await countUnordered(db, accountId, {
        newerThanMs: UNORDERED_MS,
        limit: MOST_UNORDERED,
      })
      caller.left = MOST_UNORDERED - unordered
      if (caller.left <= 0) await sleep(LOOK_MS)
    }
    caller.left -= 1
  }
  return (accountId: string) => {
    const caller = about.add(accountId)
    return turns.run(accountId, () => untilRoom(accountId, caller))
  }
})

/** The accounts that are about, whoever came last at the end. */
function createAbout() {
  const callers = new Map<string, Caller>()
  const forget = () => {
    for (const [accountId, { seenAt }] of callers) {
      if (performance.now() < seenAt + ABOUT_MS) return
      callers.delete(accountId)
    }
  }
  return {
    add(accountId: string): Caller {
      const caller = callers.get(accountId) ?? { seenAt: 0, left: MOST_UNORDERED }
      caller.seenAt = performance.now()
      callers.delete(accountId)
      callers.set(accountId, caller)
      return caller
    },
    hasOthers(accountId: string): boolean {
      forget()
      return callers.size > (callers.has(accountId) ? 1 : 0)
    },
  }
}
