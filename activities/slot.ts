import { Context } from '@temporalio/activity'

/** A usual step is over by then, under load too. What takes longer waits in its workflow, without a slot. */
export const SLOT_MS = 60_000
/** The server misses a worker that has died after 15 s. A usual step is over before the first heartbeat. */
const HEARTBEAT_MS = 8_000
/** Nobody reads why a wait ended; without this each would make an error with its stack. */
const OVER = 'over'

/** Runs a wait inside the activity's slot, with heartbeats. Its signal aborts after `forMs`, or when the worker stops. */
export async function waitInSlot<T>(
  { stopping, forMs = SLOT_MS }: { stopping: AbortSignal; forMs?: number | undefined },
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const context = Context.current()
  const over = new AbortController()
  const end = () => {
    over.abort(OVER)
  }
  const limit = setTimeout(end, Math.min(forMs, SLOT_MS))
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
    clearInterval(beat)
    clearTimeout(limit)
    for (const source of sources) source.removeEventListener('abort', end)
    // Ends what still waits for a change.
    end()
  }
}
