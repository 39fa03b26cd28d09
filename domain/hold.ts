import type { WaitingCode } from './waiting.js'

/**
 * Why a step is not over. `message` may name an operator and their reason: it is for the Temporal UI only. `since` is
 * ISO 8601. `isUsual`: nothing is late. `failure`: the code under which the intent is marked as failed meanwhile.
 */
export type Hold = {
  code: WaitingCode
  message: string
  since: string
  isUsual?: true
  failure?: string
}

/**
 * Result of an activity whose step is not over. Its workflow shows what it waits for, waits for the signal that the
 * operation is settled, at most for `againMs`, and calls the activity again.
 */
export type Unsettled = { settled: false; waitsFor?: Hold; againMs?: number }

/** An activity that an operator completed by hand may have any result. */
export const isUnsettled = (result: unknown): result is Unsettled =>
  (result as Partial<Unsettled> | null)?.settled === false

/** Name of the signal that wakes a waiting workflow. It carries nothing: the outcome is read from the row. */
export const SETTLED = 'settled'
