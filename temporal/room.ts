import { setTimeout as sleep } from 'node:timers/promises'
import { MOST_UNORDERED, countUnordered } from '../db/intents/unordered.js'
import { createTurns } from '../db/connection/turns.js'
import type { Db } from '../db/connection/connect.js'

/** An account that has brought an intent within this time is about. */
const ABOUT_MS = 60_000
/**
 * What finds no room goes on all the same after so long, whatever is away or stands still: 8 a second are taken from
 * their callers, and 2 a second are started.
 */
const USUAL = { enteringMs: 125, startingMs: 500 }
/** So that the work is done before the time of an answer is over. */
const PATIENCE_MS = 8_000
/** Between two looks for room: at what this process has, and at what is stored. */
const LOOK_MS = 10
const COUNT_MS = 50
const FORGET_EVERY_MS = 1_000

/** An intent between its request and its start. */
export type Place = {
  /**
   * Resolves when there is room for its start.
   *
   * @throws {ServiceError} UNAVAILABLE when those before it take too long.
   */
  untilRoom(): Promise<void>
  /** To be called when it is started and that is written down, or it came to nothing. */
  leave(): void
}

/** Where intents wait that have no place yet, and those that have one. */
export type Room = {
  /**
   * Resolves when there is room for another intent of an account.
   *
   * @throws {ServiceError} UNAVAILABLE when those before it take too long.
   */
  enter(accountId: string): Promise<Place>
  /** A place for what is stored already. */
  place(accountId: string): Place
}

/**
 * `inside`: places that nobody has left. `starting`: those of them that have found room for their start. `left`: so
 * many may start before what is stored is looked at again.
 */
type Caller = { seenAt: number; inside: number; starting: number; left: number }

/**
 * While other accounts bring intents too, an account has few workflows started of which no step is ordered yet, and few
 * that wait to be started: in its own time Temporal takes a start as soon as a step, so that a flood's starts would hold
 * up everybody's steps. Its others wait in their order. Alone it waits for nothing.
 *
 * Each process knows its own callers; what they have started is counted for all of them.
 *
 * @param db - A pool.
 */
export function createRoom(db: Db, { enteringMs, startingMs } = USUAL): Room {
  const entering = createTurns({ share: 1, patienceMs: PATIENCE_MS })
  const starting = createTurns({ share: 1, patienceMs: PATIENCE_MS })
  const callers = createCallers()

  async function untilFew(accountId: string, caller: Caller): Promise<void> {
    const until = Date.now() + enteringMs
    while (caller.inside >= MOST_UNORDERED && Date.now() < until && callers.hasOthers(accountId)) {
      await sleep(LOOK_MS)
    }
  }

  async function untilOrdered(accountId: string, caller: Caller): Promise<void> {
    const until = Date.now() + startingMs
    while (caller.left <= 0 && Date.now() < until && callers.hasOthers(accountId)) {
      caller.left = MOST_UNORDERED - caller.starting - (await countUnordered(db, accountId))
      if (caller.left <= 0) await sleep(COUNT_MS)
    }
    caller.left -= 1
    caller.starting += 1
  }

  function place(accountId: string): Place {
    const caller = callers.of(accountId)
    let isStarting = false
    caller.inside += 1
    return {
      async untilRoom() {
        await starting.run(accountId, () => untilOrdered(accountId, caller))
        isStarting = true
      },
      leave() {
        caller.inside -= 1
        if (isStarting) caller.starting -= 1
      },
    }
  }

  return {
    place,
    enter(accountId) {
      const caller = callers.of(accountId)
      caller.seenAt = performance.now()
      return entering.run(accountId, async () => {
        await untilFew(accountId, caller)
        return place(accountId)
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
      const caller = { seenAt: -ABOUT_MS, inside: 0, starting: 0, left: 0 }
      callers.set(accountId, caller)
      return caller
    },
    hasOthers(accountId: string): boolean {
      for (const [other, caller] of callers) if (other !== accountId && isAbout(caller)) return true
      return false
    },
  }
}
