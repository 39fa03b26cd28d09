import { attemptErrors, type AttemptError } from '../domain/webhooks.js'

/** A try that has brought no answer. It says nothing of the URL, its addresses or what was sent. */
export class SendFailure extends Error {
  readonly reason: AttemptError

  constructor(reason: AttemptError) {
    super(attemptErrors[reason])
    this.name = 'SendFailure'
    this.reason = reason
  }
}
