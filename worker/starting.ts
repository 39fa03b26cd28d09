import { setTimeout as sleep } from 'node:timers/promises'
import { isGrpcServiceError, type Client } from '@temporalio/client'
import { crashPoint } from '../crashPoints.js'
import { createTurns } from '../db/connection/turns.js'
import { setDispatched } from '../db/intents/status.js'
import { MOST_UNORDERED, takeToStart, type Kind } from '../db/intents/starting.js'
import {
  factsOf,
  onceHere,
  startWorkflow,
  workOf,
  type Start,
  type StartOptions,
} from '../temporal/start.js'
import { createBell, type Bell } from '../bell.js'
import type { Waiting } from '../db/connection/listen.js'
import type { Db } from '../db/connection/connect.js'
import type { Log } from '../log.js'
import type { Presence } from './presence.js'

/**
 * Of each kind under way at once. More would only wait in Temporal, where nobody is asked whose turn it is, and keep
 * workflows that go on from it: with sixteen their next tasks waited for seconds under load.
 */
export const MOST_STARTS = 5
/** Taken beside, so that what ends makes place for the next one at once; looked for anew when fewer than a few are left. */
const MOST_AHEAD = 6
const FEW_AHEAD = 2
/** So many of an account are started of which no step is ordered yet: while others are about, and while it is alone. */
const usualRoom = { shared: MOST_UNORDERED, alone: 32 }
/** An account of which something was stored within this time is about. */
const ABOUT_MS = 60_000
const FORGET_EVERY_MS = 1_000
/** Of an account without room one is started all the same so often, whatever is away or stands still. */
const HELD_UP_MS = 500
/** What comes within so long after a look is taken together by the next one. */
const GATHER_MS = 25
/** Between two looks while something may wait for room. */
const LOOK_MS = 50
/** What no word came of is found after so long at most. */
const POLL_MS = 2_000
/** For so long a start waits for its answer. */
const ANSWER_MS = 1_500
/** What did not reach Temporal is tried again until then, and after that taken anew, by whichever worker. */
const PATIENCE_MS = 3_000
/** Between two tries of a start that did not reach Temporal. */
const AGAIN_MS = 100
/** Codes of gRPC for a server that was not reached or has too much to do: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE. */
const PASSING = [4, 8, 14]

type Tools = {
  db: Db
  client: Client
  temporal: Pick<Presence, 'untilThere'>
  log: Log
  /** Absent: by the connection of a worker, which begins at once what it starts. */
  options?: StartOptions
}

/** Has workflows started of what is stored. */
export type Starter = {
  /** To be told of what waits to be started; undefined: something may. */
  hear(waiting: Waiting | undefined): void
  /** Starts what waits until the signal aborts. Resolves when nothing is under way. */
  run(tools: Tools, stopping: AbortSignal): Promise<void>
}

/**
 * What waits to be started waits in the database, and any worker takes it, account by account: of none so many that its
 * starts would hold up the steps of others. What a worker had taken that died is free again a moment later.
 */
export function createStarter(rooms = usualRoom): Starter {
  const bells = { intent: createBell(), funding: createBell() }
  const accounts = createAccounts()
  const readRoom = () => (accounts.areSeveral() ? rooms.shared : rooms.alone)
  return {
    hear(waiting) {
      if (waiting) accounts.see(waiting.accountId)
      if (waiting?.kind !== 'funding') bells.intent.ring()
      if (waiting?.kind !== 'intent') bells.funding.ring()
    },
    async run(tools, stopping) {
      const shared = { ...tools, stopping, readRoom, see: accounts.see }
      const kinds = ['intent', 'funding'] as const
      await Promise.all(kinds.map((kind) => runKind(kind, { ...shared, bell: bells[kind] })))
    },
  }
}

type Running = Tools & {
  stopping: AbortSignal
  bell: Bell
  readRoom: () => number
  see: (accountId: string) => void
}

async function runKind(kind: Kind, running: Running): Promise<void> {
  const { db, temporal, log, stopping, bell, readRoom, see } = running
  // What is not begun by then, whoever takes it next begins.
  const places = createTurns({ share: MOST_STARTS, patienceMs: PATIENCE_MS })
  const [starting, marking] = [new Set<Promise<unknown>>(), new Set<Promise<unknown>>()]
  const areEnough = () => starting.size >= MOST_STARTS + FEW_AHEAD
  let after = ''
  let leastAt = -HELD_UP_MS
  /** Asked only then: a ping is a call of the server as a start is. */
  let mayBeAway = true

  /** @returns Whether something waits, or may. */
  async function startSome(): Promise<boolean> {
    const isHeldUp = performance.now() >= leastAt + HELD_UP_MS
    if (isHeldUp) leastAt = performance.now()
    const limit = MOST_STARTS + MOST_AHEAD - starting.size
    const turn = { after, limit, room: readRoom(), least: isHeldUp ? 1 : 0 }
    const taken = await takeToStart(db, kind, turn)
    after = taken.after
    for (const start of taken.starts) {
      see(workOf(start).accountId)
      const until = Date.now() + PATIENCE_MS
      const started = places.run(kind, () => begin(start, running, until)).catch(() => false)
      keep(starting, started)
      // Written down when its place is free: whoever comes next need not wait for that.
      const written = started.then((isStarted) => {
        mayBeAway ||= !isStarted
        return isStarted ? mark(start, running) : undefined
      })
      keep(marking, written)
    }
    return taken.isWaiting
  }

  while (!stopping.aborted) {
    if (mayBeAway) await temporal.untilThere()
    if (stopping.aborted) break
    mayBeAway = false
    const isWaiting = await startSome().catch((error: unknown) => {
      log.warn({ err: error }, 'no workflows started')
      return false
    })
    await sleep(GATHER_MS)
    if (!areEnough()) await bell.wait(isWaiting ? LOOK_MS : POLL_MS, stopping)
    while (areEnough()) await Promise.race(starting)
  }
  await Promise.all(marking)
}

function keep(open: Set<Promise<unknown>>, work: Promise<unknown>): void {
  const kept = work.finally(() => open.delete(kept))
  open.add(kept)
}

/** Whether it is started. Tried until then, Unix time in ms. */
async function begin(
  start: Start,
  { client, log, options = onceHere }: Tools,
  until: number,
): Promise<boolean> {
  crashPoint('worker: before the start')
  try {
    await untilReached(() => inTime(startWorkflow(client, start, options)), until)
    return true
  } catch (error) {
    log.warn({ ...factsOf(start), err: error }, 'workflow not started yet')
    return false
  }
}

async function mark(start: Start, { db, log }: Tools): Promise<void> {
  await setDispatched(db, workOf(start).id).catch((error: unknown) => {
    log.warn({ ...factsOf(start), err: error }, 'started workflow not written down yet')
  })
}

/** What did not reach Temporal, and may have all the same, is tried again: a workflow that is there is found. */
async function untilReached(run: () => Promise<void>, until: number): Promise<void> {
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (!isPassing(error) || Date.now() + AGAIN_MS > until) throw error
    }
    await sleep(AGAIN_MS)
  }
}

function isPassing(error: unknown): boolean {
  const { cause = error } = error as { cause?: unknown }
  return error instanceof LateError || (isGrpcServiceError(cause) && PASSING.includes(cause.code))
}

class LateError extends Error {
  override name = 'LateError'
}

/** A worker's connection lets a call wait for as long as the server is silent. */
async function inTime(start: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new LateError(`Temporal has not answered for ${ANSWER_MS} ms.`))
    }, ANSWER_MS)
  })
  try {
    await Promise.race([start, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The accounts that are about. */
function createAccounts() {
  const seen = new Map<string, number>()
  let forgotAt = 0
  const forget = () => {
    const now = performance.now()
    if (now < forgotAt + FORGET_EVERY_MS) return
    forgotAt = now
    for (const [accountId, at] of seen) if (now > at + ABOUT_MS) seen.delete(accountId)
  }
  return {
    see(accountId: string) {
      seen.set(accountId, performance.now())
      forget()
    },
    areSeveral() {
      forget()
      return seen.size > 1
    },
  }
}
