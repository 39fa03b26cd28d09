import { setTimeout as sleep } from 'node:timers/promises'
import { LINGER_MS, atMost } from './waves.js'
import type { Lane } from '../db/lanes/signing.js'

/** Without an announcement the signer looks this often. */
const POLL_MS = 1_000
/** Wait after a failure of the node or the database. */
const RETRY_MS = 2_000
/** Turns of a lane that may be under way together: those that wait for a slow answer, and one more. */
const MOST_TURNS = 4
/** Of a backlog so many are begun without waiting: while one asks the node and the database, the other one computes. */
const BACKLOG_TURNS = 2

/**
 * Bundles of a lane that are not full follow each other no faster than this, so that under load what comes meanwhile
 * travels together: each transaction has costs of its own, in gas and at every process that it passes. Let through
 * when they are half full, they leave small ones behind: of 25 operations a second in two lanes 7 travelled together
 * then, and 10 now, for a wait of 60 ms more.
 */
const GATHER_MS = 1_000
/** But so many may go at once: whoever comes alone, with all its steps, waits for nobody. */
const PROMPT_BUNDLES = 3
/**
 * When nothing was ordered on the chain for so long, nobody is worth waiting for; a little longer after a bundle in
 * which so many travelled, as many who order do so in no even beat: of 20 a second one in fifty comes after `QUIET_MS`.
 */
const QUIET_MS = 200
const QUIET_AMONG_MANY_MS = 350
const MANY = 5
/**
 * Where one account fills the bundles, those of others do not wait for its pace: one with all that is there leaves
 * for them: so many at once, and in the long run one each `PASSING_MS`. It is looked for this often.
 */
const PASSING_MS = 500
const PROMPT_PASSINGS = 2
const PASSING_LOOK_MS = 100

/**
 * One turn of a lane: how many operations it has taken, and whether these are as many as it may. `crowd`: the account
 * to which most of them belong. `over` never rejects.
 */
export type Turn = {
  taken: number
  isFull: boolean
  isAlone: boolean
  crowd?: string | undefined
  over: Promise<void>
}

/** How the lanes of one chain are served. */
export type Service = {
  /** The lanes, if there is anything to do for them. */
  findLanes(): Promise<Lane[]>
  /** Begins a turn. `callOthers`: there is something for the other lanes. `crowd`: takes nothing if all is this account's. */
  begin(lane: Lane, callOthers: () => void, crowd?: string): Promise<Turn>
  /** True when operations of other accounts than this one wait. */
  hasOthers(crowd: string): Promise<boolean>
  onFailure(error: unknown): void
}

/**
 * Serves the lanes of a chain until the signal aborts, each by a loop of its own, so that none waits for another.
 * One question for all of them finds out whether there is work.
 *
 * @param nextWork - Resolves when there may be work, at the latest after the given milliseconds; with `queued` when
 *   something was ordered.
 */
export async function serveLanes(
  service: Service,
  nextWork: (timeoutMs: number) => Promise<string | undefined>,
  stopping: AbortSignal,
): Promise<void> {
  const loops = new Map<string, { bell: Bell; running: Promise<void> }>()
  let orderedAt = -Infinity
  const callAll = () => {
    for (const { bell } of loops.values()) bell.ring()
  }
  const callLane = (lane: Lane) => {
    const known = loops.get(lane.sender)
    if (known) return known.bell.ring()
    const bell = createBell()
    bell.ring()
    const running = runLane({ service, lane, bell, callAll, orderedAt: () => orderedAt }, stopping)
    loops.set(lane.sender, { bell, running })
  }
  /** All of them take again by themselves: there is no need to ask whether there is something to take. */
  const areCalled = () => loops.size > 0 && [...loops.values()].every(({ bell }) => bell.hasRung())
  while (!stopping.aborted) {
    const wake = nextWork(POLL_MS)
    try {
      if (!areCalled()) for (const lane of await service.findLanes()) callLane(lane)
      if ((await wake) === 'queued') orderedAt = performance.now()
    } catch (error) {
      service.onFailure(error)
      await pause(stopping)
    }
  }
  callAll()
  await Promise.all([...loops.values()].map(({ running }) => running))
}

/** `orderedAt`: when something was ordered on the chain last, by `performance.now()`. */
type LaneLoop = {
  service: Service
  lane: Lane
  bell: Bell
  callAll: () => void
  orderedAt: () => number
}

async function runLane(loop: LaneLoop, stopping: AbortSignal): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const pace = createPace()
  while (!stopping.aborted) {
    await loop.bell.heard()
    try {
      let goesOn = true
      while (goesOn && !stopping.aborted) {
        const crowd = await untilNext(loop, pace, stopping)
        const hasTaken = await takeTurn(loop, { underWay, pace, crowd })
        // What it was called for may be the crowd's, whose time comes.
        goesOn = hasTaken || crowd !== undefined
      }
    } catch (error) {
      loop.service.onFailure(error)
      await pause(stopping)
      loop.bell.ring()
    }
  }
  await Promise.all(underWay)
}

/**
 * Waits for the lane's pace while more is being ordered, or until an account that does not fill its bundles has
 * something: then tells which does.
 */
async function untilNext(
  { service, orderedAt }: LaneLoop,
  pace: Pace,
  stopping: AbortSignal,
): Promise<string | undefined> {
  for (;;) {
    const { openAt, quietMs, crowd } = pace.look()
    const waitMs = Math.min(openAt, orderedAt() + quietMs) - performance.now()
    if (waitMs <= 0 || stopping.aborted) return undefined
    const ms = crowd === undefined ? waitMs : Math.min(waitMs, PASSING_LOOK_MS)
    await sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
    if (crowd !== undefined && pace.mayPass() && (await service.hasOthers(crowd))) return crowd
  }
}

/** `crowd`: the lane takes only if there is something of another account. */
type Beginning = { underWay: Set<Promise<void>>; pace: Pace; crowd: string | undefined }

/** True when the lane had something to take. One turn that is slow does not hold up the next one. */
async function takeTurn(
  { service, lane, bell, callAll }: LaneLoop,
  { underWay, pace, crowd }: Beginning,
): Promise<boolean> {
  const before = [...underWay]
  const turn = await service.begin(lane, callAll, crowd)
  const { taken, isFull, isAlone, over } = turn
  // What wallets have ordered besides is passed over while they are served: nobody else tells when they are free, which
  // may have been a moment ago.
  if (!isFull) for (const turn of before) void turn.then(() => bell.ring())
  if (taken === 0) return false
  if (!isFull && !isAlone) pace.spend(taken, { passed: crowd, fills: turn.crowd })
  underWay.add(over)
  void over.then(() => underWay.delete(over))
  if (isAlone) await over
  else if (!isFull) await atMost(over, LINGER_MS)
  else if (underWay.size >= BACKLOG_TURNS) await atMost(Promise.race(underWay), LINGER_MS)
  if (underWay.size >= MOST_TURNS) await Promise.race(underWay)
  return true
}

/** What leaves a lane in its turn, and what passes the account that fills its bundles. */
type Pace = ReturnType<typeof createPace>

/** `crowd`: the account that fills bundles. */
type Bundle = { size: number; crowd: string | undefined }

function createPace() {
  const inTurn = createAllowance(GATHER_MS, PROMPT_BUNDLES)
  const passing = createAllowance(PASSING_MS, PROMPT_PASSINGS)
  let last: Bundle = { size: 0, crowd: undefined }
  return {
    /** `passed`: the account that the bundle has passed. `fills`: the one that fills it otherwise. */
    spend(size: number, { passed, fills }: Record<'passed' | 'fills', string | undefined>): void {
      inTurn.spend()
      if (passed !== undefined) passing.spend()
      last = { size, crowd: passed ?? fills }
    },
    look: () => ({
      openAt: inTurn.openAt(),
      quietMs: last.size < MANY ? QUIET_MS : QUIET_AMONG_MANY_MS,
      crowd: last.crowd,
    }),
    mayPass: () => performance.now() >= passing.openAt(),
  }
}

/** Lets through as many as it has; one more comes each time that so many ms have passed. */
function createAllowance(everyMs: number, most: number) {
  /** When it has all of them again. */
  let wholeAt = 0
  return {
    spend(): void {
      const now = performance.now()
      wholeAt = Math.min(Math.max(wholeAt, now) + everyMs, now + most * everyMs)
    },
    openAt: () => wholeAt - (most - 1) * everyMs,
  }
}

/** A call that is heard once, also by who comes later. */
type Bell = ReturnType<typeof createBell>

function createBell() {
  let isRung = false
  let wake: (() => void) | undefined
  return {
    hasRung: () => isRung,
    ring(): void {
      isRung = true
      wake?.()
    },
    async heard(): Promise<void> {
      if (!isRung) await new Promise<void>((resolve) => (wake = resolve))
      wake = undefined
      isRung = false
    },
  }
}

async function pause(stopping: AbortSignal): Promise<void> {
  await sleep(RETRY_MS, undefined, { signal: stopping }).catch(() => undefined)
}
