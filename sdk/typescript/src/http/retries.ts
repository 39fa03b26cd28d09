import { ConnectionError, StewardError, TimeoutError } from '../errors.js'

const FIRST_MS = 500
const LONGEST_MS = 8_000
/** A window of the rate limit is a minute. What asks for more, such as a daily limit, is the caller's to decide. */
const LONGEST_RETRY_AFTER_MS = 60_000

/** Whether the same call may succeed later. A POST has a key by which it is done once. */
export function mayPass(error: unknown): error is StewardError {
  if (!(error instanceof StewardError)) return false
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true
  const { status = 0 } = error
  return status === 408 || status === 429 || status >= 500
}

/**
 * How long to wait before a call is made again: what the answer asks for, else full jitter. Undefined when another
 * try makes no sense.
 *
 * @param failures - So many tries have failed, this one included.
 */
export function delayAfter(error: unknown, failures: number): number | undefined {
  if (!mayPass(error)) return undefined
  if (error.retryAfter === undefined) return jitter(failures)
  const asked = error.retryAfter * 1000
  return asked > LONGEST_RETRY_AFTER_MS ? undefined : asked
}

/** Full jitter: many clients that failed together do not come back together. */
export const jitter = (failures: number) =>
  Math.random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1))

/** @throws what the signal was aborted with. */
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

/** As `fetch` fails when its signal is aborted. */
export const reasonOf = (signal: AbortSignal | undefined): Error =>
  (signal?.reason ?? new Error('aborted')) as Error
