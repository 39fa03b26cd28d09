export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A loop that waits for a notification looks at the rows at the latest after this: a lost one costs no more. */
export const LOOK_MS = 1_000

/** Pause after a failure, and before what is busy or missing is tried again. */
export const RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

/** Pause after so many failures in a row, ms: a second, doubled with each failure, half a minute at most. */
export const backoffMs = (failures: number, firstMs = RETRY_MS): number =>
  Math.min(firstMs * 2 ** (failures - 1), LONGEST_RETRY_MS)

/** A node or another service that answers later counts as silent: a busy public one is quicker. */
export const REQUEST_TIMEOUT_MS = 5_000

/** Clocks of machines, of the database and of chains differ by less than this. */
export const CLOCKS_APART_MS = 60 * MINUTE_MS
