import type { WaitingCode } from './waiting.js'

/** Name of the signal by which an activity tells its workflow what holds its step up. */
export const HELD_UP = 'heldUp'

/**
 * What an operator is told of a step that does not go on. `message` may name who has stopped it, and why: it is for
 * the Temporal UI only. `since` is ISO 8601. `isUsual`: every step waits for that, and this one not longer than
 * others. `failure`: the code under which the intent is marked as failed meanwhile.
 */
export type Hold = {
  code: WaitingCode
  message: string
  since: string
  isUsual?: true
  failure?: string
}

/** For how long every step may wait for something: what lasts longer holds it up. In milliseconds. */
const USUAL_MS: Partial<Record<WaitingCode, number>> = {
  SIGNER: 10_000,
  BOOKING: 60_000,
  MINING: 60_000,
  CONFIRMATIONS: 900_000,
}

/** True while nothing is wrong with waiting for that. */
export const isUsual = (code: WaitingCode, forMs: number): boolean => forMs < (USUAL_MS[code] ?? 0)

/** Milliseconds after which a hold that is usual yet will not be; undefined when it is not, or nothing is wrong with it. */
export function unusualIn({ code, since, isUsual: isYet }: Hold): number | undefined {
  const usualMs = USUAL_MS[code]
  if (!isYet || usualMs === undefined) return undefined
  return Math.max(Date.parse(since) + usualMs - Date.now(), 0)
}
