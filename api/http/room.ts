import { setTimeout as sleep } from 'node:timers/promises'
import { MOST_UNORDERED, countUnstarted } from '../../db/intents/starting.js'
import { createTurns } from '../../db/connection/turns.js'
import type { Db } from '../../db/connection/connect.js'

/** An account that has brought an intent within this time is about. */
const ABOUT_MS = 60_000
/** What finds no room goes on all the same after so long, whatever is away or stands still: 8 a second. */
const ENTERING_MS = 125
/** So that the work is done before the time of an answer is over. */
const PATIENCE_MS = 8_000
/** Between two looks for room. */
const LOOK_MS = 50
const FORGET_EVERY_MS = 1_000

/** An intent between its request and its answer. */
export type Place = {
  /** To be called when it is stored, or came to nothing. */
  leave(): void
}

/** Where intents wait until they may be stored. */
export type Room = {
  /**
   * Resolves when there is room for another intent of an account.
   *
   * @throws {ServiceError} UNAVAILABLE when those before it take too long.
   */
  enter(accountId: string): Promise<Place>
}

/** `inside`: places that nobody has left. `left`: so many may enter before what is stored is looked at again. */
type Caller = { seenAt: number; inside: number; left: number }

/**
 * While other accounts bring intents too, an account has few that are not started yet: its others wait in their order,
 * so that they take nothing from whoever starts and executes. Alone it waits for nothing.
 *
 * Each process knows its own callers; what is stored is counted for all of them.
 *
 * @param db - A pool.
 */
export function createRoom(db: Db, enteringMs = ENTERING_MS): Room {
  const entering = createTurns({ share: 1, patienceMs: PATIENCE_MS })
  const callers = createCallers()

  async function untilFew(accountId: string, caller: Caller): Promise<void> {
    const until = Date.now() + enteringMs
    while (caller.left <= 0 && Date.now() < until && callers.hasOthers(accountId)) {
      caller.left = MOST_UNORDERED - caller.inside - (await countUnstarted(db, accountId))
      if (caller.left <= 0) await sleep(LOOK_MS)
    }
    caller.left -= 1
  }

  return {
    enter(accountId) {
      const caller = callers.of(accountId)
      caller.seenAt = performance.now()
      return entering.run(accountId, async () => {
        await untilFew(accountId, caller)
        caller.inside += 1
        return {
          leave() {
            caller.inside -= 1
          },
        }
      })
    },
  }
}

/** The accounts that have called, as long as they are about or have something inside. */
function createCallers() {
  const callers = new Map<string, Caller>()
  let forgotAt = 0
  const isAbout = ({ seenAt }: Caller) => performance.now() < seenAt + ABOUT_MS
  const forget = () => {
    if (performance.now() < forgotAt + FORGET_EVERY_MS) return
    forgotAt = performance.now()
    for (const [accountId, caller] of callers) {
      if (caller.inside === 0 && !isAbout(caller)) callers.delete(accountId)
    }
  }
  return {
    of(accountId: string): Caller {
      forget()
      const known = callers.get(accountId)
      if (known) return known
      const caller = { seenAt: -ABOUT_MS, inside: 0, left: 0 }
      callers.set(accountId, caller)
      return caller
    },
    hasOthers(accountId: string): boolean {
      for (const [other, caller] of callers) if (other !== accountId && isAbout(caller)) return true
      return false
    },
  }
}
