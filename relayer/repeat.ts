import { setTimeout as sleep } from 'node:timers/promises'
import { RETRY_MS } from '../runtime/durations.js'

/** Repeats a round until the signal aborts. A failed round is followed by a delay, ms. */
export async function repeat(
  round: () => Promise<void>,
  onFailure: (error: unknown) => void,
  { stopping, retryMs = RETRY_MS }: { stopping: AbortSignal; retryMs?: number },
): Promise<void> {
  while (!stopping.aborted) {
    try {
      await round()
    } catch (error) {
      if (stopping.aborted) return
      onFailure(error)
      await delay(retryMs, stopping)
    }
  }
}

/** Waits for some milliseconds, or until the signal aborts. */
export async function delay(ms: number, stopping: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
}
