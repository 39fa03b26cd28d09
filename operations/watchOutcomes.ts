import { createNotifier, type Notifier } from '../runtime/notifier.js'
import { findOperation, type Operation } from './operations.js'
import { findChanged } from './changed.js'
import { findPause } from '../db/pauses.js'
import { isUnsent, outcomeOf } from './outcome.js'
import { MAX_NOTIFY_WAIT_MS } from '../runtime/durations.js'
import type { AwaitedWhat } from './awaited.js'
import type { Db } from '../db/client/connect.js'
import type { Listener } from '../db/client/listen.js'

/** A change between these states does not finish a step. */
const underWay = new Set<string | undefined>(['queued', 'signed', 'mined'])

/** A state in which a waiting step must act. */
export const isSettledState = (state: string): boolean => !underWay.has(state)

/** Waits for changes of operations; one database query serves all waits. */
export type Outcomes = {
  /**
   * Resolves when the operation may be finished, deferred or paused by an operator (`outcome`), when the burn may be
   * attested (`attestation`), or when the signal aborts.
   */
  nextChange(id: string, signal: AbortSignal, what?: AwaitedWhat): Promise<void>
}

/**
 * Watches the rows of all operations that this process waits for. A notification wakes a wait at once. One query a
 * second for all waits covers lost notifications.
 *
 * @param watching - `lookMs`: pause between two such queries, for tests.
 */
export function watchOutcomes({
  db,
  listener,
  stopping,
  lookMs = MAX_NOTIFY_WAIT_MS,
}: {
  db: Db
  listener: Listener
  stopping: AbortSignal
  lookMs?: number
}): Outcomes {
  const waiting = { outcome: createWaiters(), attestation: createWaiters() }
  const notifier = createNotifier()
  listener.subscribe((change) => {
    if (!change?.id) notifier.notify()
    else if (change.state === 'attested') waiting.attestation.wake(change.id)
    else if (isSettledState(change.state)) waiting.outcome.wake(change.id)
  })
  void keepLooking({ db, waiting, notifier, lookMs }, stopping)
  return { nextChange: (id, signal, what = 'outcome') => waiting[what].wait(id, signal) }
}

type Waiters = ReturnType<typeof createWaiters>
type Looking = {
  db: Db
  waiting: Record<AwaitedWhat, Waiters>
  notifier: Notifier
  lookMs: number
}

async function keepLooking(
  { db, waiting, notifier, lookMs }: Looking,
  stopping: AbortSignal,
): Promise<void> {
  for (; !stopping.aborted; await notifier.wait(lookMs, stopping)) {
    const ids = { outcomes: waiting.outcome.ids(), attestations: waiting.attestation.ids() }
    if (ids.outcomes.length + ids.attestations.length === 0) continue
    try {
      for (const { id, what } of await findChanged(db, ids)) waiting[what].wake(id)
    } catch {
      // The database is unreachable. The next query finds the same rows.
    }
  }
}

/** Promises by the id of the awaited operation. */
function createWaiters() {
  const all = new Map<string, Set<() => void>>()
  return {
    ids: () => [...all.keys()],
    wake(id: string): void {
      for (const done of all.get(id) ?? []) done()
    },
    wait(id: string, signal: AbortSignal): Promise<void> {
      return new Promise((resolve) => {
        const own = all.get(id) ?? new Set()
        all.set(id, own)
        const done = () => {
          signal.removeEventListener('abort', done)
          own.delete(done)
          if (own.size === 0 && all.get(id) === own) all.delete(id)
          resolve()
        }
        own.add(done)
        signal.addEventListener('abort', done)
        if (signal.aborted) done()
      })
    },
  }
}

/**
 * Reads the row until its outcome is known, an operator has paused it, or the signal aborts. Returns the latest row.
 *
 * @param row - A recent copy. The next query for all waits finds any change since.
 */
export async function awaitOperation(
  { db, outcomes }: { db: Db; outcomes: Outcomes },
  row: Operation,
  signal: AbortSignal,
): Promise<Operation> {
  let latest = row
  let change = outcomes.nextChange(row.id, signal)
  for (;;) {
    if (outcomeOf(latest).kind !== 'waiting' || signal.aborted) return latest
    await change
    // Registered before reading: a change between the two wakes the wait.
    change = outcomes.nextChange(row.id, signal)
    latest = (await findOperation(db, row.id)) ?? latest
    if (!signal.aborted && isUnsent(latest) && (await findPause(db, latest))) return latest
  }
}
