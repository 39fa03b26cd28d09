import { setTimeout as sleep } from 'node:timers/promises'
import { readLatestOperations, readMarks, type LatestOperation } from '../db/lanes/marks.js'
import type { Db } from '../db/connection/connect.js'
import type { Listener } from '../db/connection/listen.js'

/** An announcement that is lost with its connection costs no more. */
const LOOK_MS = 1_000
/** What is younger an attempt waits for that runs, or is about to. */
const ADOPTED_AFTER_MS = 30_000
/** By then Temporal has heard that the attempt is over. A step that is woken before would sleep on. */
const FALLS_ASLEEP_MS = 1_000
/** After a silence of a chain thousands go on at once: Temporal is told of so many at a time. */
const WOKEN_AT_ONCE = 20

/** From one of these to the next nobody goes on: who waits hears of it when all are looked at next. */
const underWay = new Set(['queued', 'signed', 'mined'])

/** A step whose attempt is over and whose wait goes on; `activity` is its name in the workflow. */
export type ParkedStep = { workflowId: string; activity: string }

/** Waits for changes of operations, however many wait. */
export type Outcomes = {
  /** Resolves when the row has changed since all were looked at last, or may have, or when the signal aborts. */
  nextChange(id: string, signal: AbortSignal): Promise<void>
  /**
   * Has a step tried again as soon as its operation's row changes. What changed before that is not noticed: whoever
   * parks reads the row once more. Absent: nobody is woken, each step comes back by itself.
   */
  park?(id: string, step: ParkedStep): Promise<void>
}

type Watching = {
  db: Db
  listener: Listener
  stopping: AbortSignal
  /** Has Temporal try a step again at once. */
  wakeStep?: (step: ParkedStep) => Promise<void>
}

/**
 * Watches the rows of all that this process waits for. Announcements wake at once; one statement a second for all of
 * them finds what no announcement came of. Steps that another process has parked, and died, are adopted.
 */
export function watchOutcomes({ db, listener, stopping, wakeStep }: Watching): Outcomes {
  const watched = createWatched(wakeStep)
  const bell = createBell()
  listener.subscribe((change) => {
    if (!change?.id) bell.ring()
    else if (!underWay.has(change.state)) watched.wake(change.id)
  })
  stopping.addEventListener('abort', bell.ring)
  void keepLooking({ db, watched, isAdopting: wakeStep !== undefined }, bell, stopping)

  return {
    nextChange: watched.wait,
    ...(wakeStep && {
      async park(id, step) {
        const mark = watched.markOf(id) ?? (await readMarks(db, [id])).get(id)
        watched.park(id, step, mark)
      },
    }),
  }
}

type Looking = { db: Db; watched: AllWatched; isAdopting: boolean }

async function keepLooking(looking: Looking, bell: Bell, stopping: AbortSignal): Promise<void> {
  const { db, watched } = looking
  let { isAdopting } = looking
  for (; !stopping.aborted; await bell.wait(LOOK_MS)) {
    try {
      if (isAdopting) await adopt(db, watched)
      isAdopting = false
      const ids = watched.list()
      if (ids.length > 0) watched.compare(await readMarks(db, ids))
    } catch {
      // The database is away. When it is back the rows say the same.
    }
  }
}

/** Takes over the steps that wait for a worker that may be gone, and wakes those whose wait is over. */
async function adopt(db: Db, watched: AllWatched): Promise<void> {
  const latest = await readLatestOperations(db, ADOPTED_AFTER_MS)
  const marks = await readMarks(
    db,
    latest.map(({ id }) => id),
  )
  for (const operation of latest) {
    const { id, intentId: workflowId } = operation
    const { activity, isOver } = stageOf(operation)
    // Whatever changed while nobody waited for it: a row that nobody has looked at yet counts as changed.
    if (!watched.knows(id)) {
      watched.park(id, { workflowId, activity }, isOver ? undefined : marks.get(id))
    }
  }
}

/** The step that waits for an operation, and whether it need not any more. */
function stageOf({ kind, state, attested }: LatestOperation) {
  const isBurned = kind === 'bridge' && (state === 'confirmed' || state === 'final')
  if (isBurned) return { activity: 'awaitAttestation', isOver: attested }
  return { activity: kind, isOver: !underWay.has(state) && state !== 'deferred' }
}

/** `mark`: what the row said when it was looked at last. `isLeft`: nobody waited for it then. */
type Watched = {
  waiters: Set<() => void>
  mark?: string | undefined
  parked?: ParkedStep | undefined
  parkedAt?: number
  isLeft?: boolean
}

type AllWatched = ReturnType<typeof createWatched>

/** Who waits for what, by the ids of operations. */
function createWatched(wakeStep?: Watching['wakeStep']) {
  const all = new Map<string, Watched>()
  const at = (id: string): Watched => {
    const one = all.get(id) ?? { waiters: new Set() }
    all.set(id, one)
    return one
  }
  const park = (id: string, parked: ParkedStep, mark: string | undefined) => {
    Object.assign(at(id), { parked, mark, parkedAt: performance.now() })
  }
  // Where nothing came of it, a later look does so again.
  const tryAgain = createWaker(wakeStep, (id, step) => {
    park(id, step, undefined)
  })
  const wake = (id: string) => {
    const one = all.get(id)
    for (const resolve of one?.waiters ?? []) resolve()
    if (one?.parked) wakeParked(id, one, one.parked)
  }
  const wakeParked = (id: string, one: Watched, step: ParkedStep) => {
    if (performance.now() - (one.parkedAt ?? 0) < FALLS_ASLEEP_MS) {
      one.mark = undefined
      return
    }
    one.parked = undefined
    tryAgain(id, step)
  }

  return {
    park,
    wake,
    markOf: (id: string) => all.get(id)?.mark,
    knows: (id: string) => all.has(id),
    list: () => [...all.keys()],
    wait(id: string, signal: AbortSignal): Promise<void> {
      const one = at(id)
      // An attempt runs.
      one.parked = undefined
      one.isLeft = false
      return untilWoken(one.waiters, signal)
    },
    /** Wakes whoever waits for what says something else than before. What nobody has waited for twice is forgotten. */
    compare(marks: Map<string, string>): void {
      for (const [id, mark] of marks) {
        const one = at(id)
        const isChanged = one.mark !== mark
        one.mark = mark
        if (isChanged) wake(id)
      }
      forgetLeft(all)
    },
  }
}

function untilWoken(waiters: Watched['waiters'], signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      waiters.delete(done)
      resolve()
    }
    waiters.add(done)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}

/** Who waits on reads the row in between, and comes back. */
function forgetLeft(all: Map<string, Watched>): void {
  for (const [id, one] of all) {
    const isLeft = one.waiters.size === 0 && !one.parked
    if (isLeft && one.isLeft) all.delete(id)
    one.isLeft = isLeft
  }
}

/** Wakes parked steps, a bounded number at a time. */
function createWaker(
  wakeStep: Watching['wakeStep'],
  onFailure: (id: string, step: ParkedStep) => void,
) {
  const waiting: [id: string, step: ParkedStep][] = []
  let running = 0
  const run = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [id, step] = next
      await wakeStep?.(step).catch(() => {
        onFailure(id, step)
      })
    }
    running -= 1
  }
  return (id: string, step: ParkedStep) => {
    waiting.push([id, step])
    if (running >= WOKEN_AT_ONCE) return
    running += 1
    void run()
  }
}

type Bell = ReturnType<typeof createBell>

function createBell() {
  let rung = new AbortController()
  return {
    ring: () => {
      rung.abort()
    },
    async wait(ms: number): Promise<void> {
      await sleep(ms, undefined, { signal: rung.signal, ref: false }).catch(() => undefined)
      rung = new AbortController()
    },
  }
}
