import type { Response } from 'express'

type Deadline = { timer: NodeJS.Timeout; onLate: () => void }

const deadlines = new WeakMap<Response, Deadline>()

/** Has `onLate` called when the answer is not over after so long. */
export function setDeadline(response: Response, ms: number, onLate: () => void): void {
  deadlines.set(response, { timer: setTimeout(onLate, ms), onLate })
}

/** For an answer that is to come later than others: so much longer from now on. */
export function postponeDeadline(response: Response, ms: number): void {
  const deadline = deadlines.get(response)
  if (!deadline) return
  clearTimeout(deadline.timer)
  setDeadline(response, ms, deadline.onLate)
}

/** For an answer that is over, or has no end in time. */
export function liftDeadline(response: Response): void {
  clearTimeout(deadlines.get(response)?.timer)
}
