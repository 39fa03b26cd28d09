import { createBell, type Bell } from '../bell.js'
import { readMarks, type Mark } from '../db/lanes/marks.js'
import type { Db } from '../db/connection/connect.js'
import type { Listener } from '../db/connection/listen.js'
import type { OperationState } from '../domain/operation.js'

/** An announcement that is lost with its connection costs no more. */
const LOOK_MS = 1_000
/** Thousands may be parked, and hardly any of them changes: of those only some are looked at each time. */
const [LEAST_TURN_MS, MOST_TURN_MS] = [5_000, 10_000]
/** By then Temporal has heard that the attempt is over. A step that is woken before would sleep on. */
const FALLS_ASLEEP_MS = 1_000
/** After a silence of a chain thousands go on at once: Temporal is told of so many at a time. */
const WOKEN_AT_ONCE = 20

/** From one of these to the next nobody goes on: that is the usual course, and ends by another one. */
const underWay = new Set<string | undefined>(['queued', 'signed', 'mined'])

/** A step whose attempt is over and whose wait goes on; `activity` is its name in the workflow. */
export type ParkedStep = { workflowId: string; activity: string }

/** Waits for changes of operations, however many wait. */
export type Outcomes = {
  /**
   * Resolves when the operation may be over, when what holds it up is another thing than before, or when the signal
   * aborts. Whoever tells `seen` also hears of any other state.
   */
  nextChange(id: string, signal: AbortSignal, seen?: OperationState): Promise<void>
  /**
   * Has a step tried again as soon as its operation's row changes. What changed before that is not noticed: whoever
   * parks reads the row once more.
   */
  park(id: string, step: ParkedStep): Promise<void>
}

type Watching = {
  db: Db
  listener: Listener
  stopping: AbortSignal
  /** Has Temporal try a step again at once. */
  wakeStep: (step: ParkedStep) => Promise<void>
}

/**
 * Watches the rows of all that this process waits for. Announcements wake at once; one statement a second for all of
 * them finds what no announcement came of. Steps whose process has died are not known here: the sweeper wakes those.
 */
export function watchOutcomes({ db, listener, stopping, wakeStep }: Watching): Outcomes {
  const watched = createWatched(wakeStep)
  const bell = createBell()
  listener.subscribe((change) => {
    if (!change?.id) bell.ring()
    else if (!underWay.has(change.state)) watched.wake(change.id)
  })
  void keepLooking({ db, watched, bell }, stopping)

  return {
    nextChange: watched.wait,
    async park(id, step) {
      const mark = watched.markOf(id) ?? (await readMarks(db, [id])).get(id)
      watched.park(id, step, mark)
    },
  }
}

type Looking = { db: Db; watched: AllWatched; bell: Bell }

async function keepLooking({ db, watched, bell }: Looking, stopping: AbortSignal): Promise<void> {
  for (let isRung = true; !stopping.aborted; isRung = await bell.wait(LOOK_MS, stopping)) {
    const ids = isRung ? watched.list() : watched.listDue()
    if (ids.length === 0) continue
    try {
      watched.compare(await readMarks(db, ids))
    } catch {
      // The database is away. When it is back the rows say the same.
    }
  }
}

/** `seen`: the state that it knows, if it wants to hear of another one. */
type Waiter = { done: () => void; seen: OperationState | undefined }

/** `mark`: what the row said when it was looked at last. `isLeft`: nobody waited for it then. */
type Watched = {
  waiters: Set<Waiter>
  mark?: Mark | undefined
  parked?: ParkedStep | undefined
  parkedAt: number
  /** From when on it is looked at again though it is parked. */
  dueAt: number
  isLeft?: boolean
}

type AllWatched = ReturnType<typeof createWatched>

const now = () => performance.now()
const nextTurn = () => now() + LEAST_TURN_MS + Math.random() * (MOST_TURN_MS - LEAST_TURN_MS)

/** Who waits for what, by the ids of operations. */
function createWatched(wakeStep: Watching['wakeStep']) {
  const all = new Map<string, Watched>()
  const at = (id: string): Watched => {
    const one = all.get(id) ?? { waiters: new Set(), parkedAt: 0, dueAt: 0 }
    all.set(id, one)
    return one
  }
  const park = (id: string, parked: ParkedStep, mark: Mark | undefined) => {
    Object.assign(at(id), { parked, mark, parkedAt: now(), dueAt: mark ? nextTurn() : 0 })
  }
  // Where nothing came of it, a later look does so again.
  const tryAgain = createWaker(wakeStep, (id, step) => {
    park(id, step, undefined)
  })
  const wake = (id: string) => {
    const one = all.get(id)
    for (const { done } of one?.waiters ?? []) done()
    if (one?.parked) wakeParked(id, one, one.parked)
  }
  const wakeParked = (id: string, one: Watched, step: ParkedStep) => {
    if (now() - one.parkedAt < FALLS_ASLEEP_MS) {
      Object.assign(one, { mark: undefined, dueAt: 0 })
      return
    }
    one.parked = undefined
    tryAgain(id, step)
  }

  return {
    park,
    wake,
    markOf: (id: string) => all.get(id)?.mark,
    list: () => [...all.keys()],
    listDue: () => listDue(all),
    wait(id: string, signal: AbortSignal, seen?: OperationState): Promise<void> {
      const one = at(id)
      // What it said while nobody waited here, whoever comes now may not know.
      if (one.parked ?? one.isLeft) one.mark = undefined
      // An attempt runs.
      Object.assign(one, { parked: undefined, isLeft: false })
      return untilWoken(one.waiters, signal, seen)
    },
    /** Wakes whoever waits for what says something else than before. What nobody has waited for twice is forgotten. */
    compare(marks: Map<string, Mark>): void {
      for (const [id, mark] of marks) {
        const one = at(id)
        const before = one.mark
        Object.assign(one, { mark, dueAt: nextTurn() })
        if (isOtherwise(mark, before) || (one.parked && before?.state !== mark.state)) wake(id)
        else wakeWatchful(one.waiters, mark)
      }
      forgetLeft(all)
    },
  }
}

/** Those for whom somebody waits now, and of the parked ones those whose turn it is. */
function listDue(all: Map<string, Watched>): string[] {
  const at = now()
  return [...all].flatMap(([id, { parked, dueAt }]) => (parked && dueAt > at ? [] : [id]))
}

/** True when those who wait may go on, or are held up by something else. Who begins to wait knows of nothing unusual. */
function isOtherwise(mark: Mark, before: Mark | undefined): boolean {
  const isOver = !underWay.has(mark.state)
  return mark.holds !== (before?.holds ?? '') || (isOver && before?.state !== mark.state)
}

function wakeWatchful(waiters: Watched['waiters'], { state }: Mark): void {
  for (const { done, seen } of waiters) if (seen !== undefined && seen !== state) done()
}

function untilWoken(
  waiters: Watched['waiters'],
  signal: AbortSignal,
  seen: OperationState | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      waiters.delete(waiter)
      resolve()
    }
    const waiter = { done, seen }
    waiters.add(waiter)
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
      await wakeStep(step).catch(() => {
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
