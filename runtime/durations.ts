export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Longest wait for a notification before a loop reads the rows. It bounds the delay of a lost notification. */
export const MAX_NOTIFY_WAIT_MS = 1_000

/** Delay before the retry of a failed, busy or missing operation. */
export const RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

/** Delay after consecutive failures, ms: `firstMs`, doubled with each failure, at most 30 s. */
export const backoffMs = (failures: number, firstMs = RETRY_MS): number =>
  Math.min(firstMs * 2 ** (failures - 1), LONGEST_RETRY_MS)

/** Timeout of a request to a node or another service. Busy public nodes answer earlier. */
export const REQUEST_TIMEOUT_MS = 5_000

/** Upper bound for the difference between the clocks of machines, of the database and of chains. */
export const CLOCKS_APART_MS = 60 * MINUTE_MS
