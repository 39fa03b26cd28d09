import { Context } from '@temporalio/activity'

/** Concurrent activities of a worker. A wait occupies a slot, not a thread. */
export const ACTIVITY_SLOTS = 1_000
/** Longest wait inside an activity. Most steps finish earlier, even under load. Longer waits continue in the workflow. */
export const SLOT_MS = 60_000
/** Longest wait while waits hold over half of the slots. A stalled chain then leaves slots for other chains. */
const CROWDED_SLOT_MS = 5_000
/** The heartbeat timeout is 15 s. Most steps finish before their first heartbeat. */
const HEARTBEAT_MS = 8_000
/** Abort reason. The default reason is an error object, and each costs a stack trace that nothing reads. */
const ENDED = 'ended'

/** `slots`: number of activity slots of this process. */
type Slot = { stopping: AbortSignal; forMs?: number | undefined; slots?: number }

/** Waits that currently hold a slot of this process. */
let waits = 0

/**
 * Runs a wait inside the activity's slot and sends heartbeats. Its signal aborts after `forMs`, earlier while slots
 * are scarce, or when the worker stops.
 */
export async function waitInSlot<T>(
  { stopping, forMs = SLOT_MS, slots = ACTIVITY_SLOTS }: Slot,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const context = Context.current()
  const ended = new AbortController()
  const end = () => {
    ended.abort(ENDED)
  }
  const isCrowded = ++waits > slots / 2
  const limit = setTimeout(end, Math.min(forMs, isCrowded ? CROWDED_SLOT_MS : SLOT_MS))
  const beat = setInterval(() => {
    context.heartbeat()
  }, HEARTBEAT_MS)
  // AbortSignal.any would leave a reference at each source, and `stopping` lives as long as the worker.
  const sources = [context.cancellationSignal, stopping]
  for (const source of sources) source.addEventListener('abort', end)
  if (sources.some(({ aborted }) => aborted)) end()
  try {
    return await wait(ended.signal)
  } finally {
    waits--
    clearInterval(beat)
    clearTimeout(limit)
    for (const source of sources) source.removeEventListener('abort', end)
    // Ends subscriptions that still wait for a change.
    end()
  }
}
