import type { Response } from 'express'

/** Above the limits of the database's own waits; a server that is frozen never answers. */
const ANSWER_MS = 12_000

type Deadline = { timer: NodeJS.Timeout; onLate: () => void; answerMs: number }

const deadlines = new WeakMap<Response, Deadline>()

/** Has `onLate` called when the answer takes longer than any may. */
export function setDeadline(response: Response, onLate: () => void, answerMs = ANSWER_MS): void {
  deadlines.set(response, { timer: setTimeout(onLate, answerMs), onLate, answerMs })
}

/** For an answer that waits for something: so much later than others, from now on. */
export function postponeDeadline(response: Response, ms: number): void {
  const deadline = deadlines.get(response)
  if (!deadline) return
  clearTimeout(deadline.timer)
  deadline.timer = setTimeout(deadline.onLate, ms + deadline.answerMs)
}

/** For an answer that is over, or has no end in time. */
export function liftDeadline(response: Response): void {
  clearTimeout(deadlines.get(response)?.timer)
}
