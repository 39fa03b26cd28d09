import { ConnectionError, StewardError, TimeoutError } from '../errors.js'

const FIRST_MS = 500
const LONGEST_MS = 8_000
/** The rate limit resets every minute. Longer waits, such as a daily limit, are left to the caller. */
const LONGEST_RETRY_AFTER_MS = 60_000

/** Whether the same call may succeed later. An idempotency key makes a repeated POST safe. */
export function mayPass(error: unknown): error is StewardError {
  if (!(error instanceof StewardError)) return false
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true
  const { status = 0 } = error
  return status === 408 || status === 429 || status >= 500
}

/**
 * Milliseconds before the next attempt: `retryAfter` of the response, otherwise full jitter. Undefined when a retry
 * cannot succeed.
 *
 * @param failures - Number of failed attempts, including this one.
 */
export function delayAfter(error: unknown, failures: number): number | undefined {
  if (!mayPass(error)) return undefined
  if (error.retryAfter === undefined) return jitter(failures)
  const retryAfterMs = error.retryAfter * 1000
  return retryAfterMs > LONGEST_RETRY_AFTER_MS ? undefined : retryAfterMs
}

/** Full jitter in milliseconds: clients that failed together do not retry together. */
export const jitter = (failures: number) =>
  Math.random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1))

/** @throws the reason of the signal. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(reasonOf(signal))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

/** The error with which `fetch` fails when its signal aborts. */
export const reasonOf = (signal: AbortSignal | undefined): Error =>
  (signal?.reason ?? new Error('aborted')) as Error
