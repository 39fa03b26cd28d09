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

/** The deadline has already sent an error, so the transaction of the call rolls back. */
export class AnsweredLate extends Error {}

const committing = new WeakSet<Response>()

/**
 * Marks the last moment before a commit. From then on an error of the service leaves the outcome unknown.
 *
 * @throws {AnsweredLate} When the deadline has already sent an error: what is answered with an error does not commit.
 */
export function beginCommit(response: Response): void {
  if (response.headersSent) throw new AnsweredLate('The deadline has answered.')
  committing.add(response)
}

/** Whether the call may have been committed. */
export const mayBeCommitted = (response: Response): boolean => committing.has(response)

/** Aborts when the connection closes. */
export function closeSignal(response: Response): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    gone.abort()
  })
  return gone.signal
}
