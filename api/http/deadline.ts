import type { Response } from 'express'

/** Above the lock timeout of the database. It also applies when the database server hangs. */
const ANSWER_MS = 12_000

type Deadline = { timer: NodeJS.Timeout; onLate: () => void; answerMs: number }

const deadlines = new WeakMap<Response, Deadline>()

/** Calls `onLate` when there is no response within `answerMs`. */
export function setDeadline(response: Response, onLate: () => void, answerMs = ANSWER_MS): void {
  deadlines.set(response, { timer: setTimeout(onLate, answerMs), onLate, answerMs })
}

/** For a response that waits for an event: restarts the deadline and extends it by `ms`. */
export function postponeDeadline(response: Response, ms: number): void {
  const deadline = deadlines.get(response)
  if (!deadline) return
  clearTimeout(deadline.timer)
  deadline.timer = setTimeout(deadline.onLate, ms + deadline.answerMs)
}

/** For a finished response, or a stream without a time limit. */
export function clearDeadline(response: Response): void {
  clearTimeout(deadlines.get(response)?.timer)
}

/** Aborts when the connection closes. */
export function closeSignal(response: Response): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    gone.abort()
  })
  return gone.signal
}
