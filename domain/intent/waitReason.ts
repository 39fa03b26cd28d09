import type { WaitingCode } from './waiting.js'

/**
 * Why a step has not ended. `message` may name an operator and their reason: it is for the Temporal UI only. `since` is
 * ISO 8601. `isUsual`: the step is not late. `failure`: the code under which the intent is marked as failed meanwhile.
 */
export type WaitReason = {
  code: WaitingCode
  message: string
  since: string
  isUsual?: true
  failure?: string
}

/**
 * Result of an activity whose step has not ended. The workflow shows the wait reason, waits for the signal that the
 * operation is settled, for at most `againMs`, and calls the activity again.
 */
export type Unsettled = { settled: false; waitsFor?: WaitReason; againMs?: number }

/** The result may have any type: an operator can complete an activity by hand. */
export const isUnsettled = (result: unknown): result is Unsettled =>
  (result as Partial<Unsettled> | null)?.settled === false

/** Name of the signal that wakes a waiting workflow. It has no payload: the outcome is read from the row. */
export const SETTLED = 'settled'
