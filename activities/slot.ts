import { Context } from '@temporalio/activity'

/** Activities that a worker runs at once. A wait holds a slot, not a thread. */
export const ACTIVITY_SLOTS = 1_000
/** A usual step is over by then, under load too. What takes longer waits in its workflow, without a slot. */
export const SLOT_MS = 60_000
/** Used while waits hold more than half of the slots, so that a stalled chain does not block the steps of other chains. */
const CROWDED_SLOT_MS = 5_000
/** The server misses a worker that has died after 15 s. A usual step is over before the first heartbeat. */
const HEARTBEAT_MS = 8_000
/** Nobody reads why a wait ended; without this each would make an error with its stack. */
const OVER = 'over'

/** `slots`: how many there are in this process. */
type Slot = { stopping: AbortSignal; forMs?: number | undefined; slots?: number }

/** Waits that hold a slot of this process now. */
let waits = 0

/**
 * Runs a wait inside the activity's slot, with heartbeats. Its signal aborts after `forMs`, earlier while slots are
 * scarce, or when the worker stops.
 */
export async function waitInSlot<T>(
  { stopping, forMs = SLOT_MS, slots = ACTIVITY_SLOTS }: Slot,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const context = Context.current()
  const over = new AbortController()
  const end = () => {
    over.abort(OVER)
  }
  const isCrowded = ++waits > slots / 2
  const limit = setTimeout(end, Math.min(forMs, isCrowded ? CROWDED_SLOT_MS : SLOT_MS))
  const beat = setInterval(() => {
    context.heartbeat()
  }, HEARTBEAT_MS)
  // Not by AbortSignal.any: what it makes leaves a trace at each source, and `stopping` lives as long as the worker.
  const sources = [context.cancellationSignal, stopping]
  for (const source of sources) source.addEventListener('abort', end)
  if (sources.some(({ aborted }) => aborted)) end()
  try {
    return await wait(over.signal)
  } finally {
    waits--
    clearInterval(beat)
    clearTimeout(limit)
    for (const source of sources) source.removeEventListener('abort', end)
    // Ends what still waits for a change.
    end()
  }
}
