import { attemptErrors, type AttemptError } from '../../domain/events/webhooks.js'

/** An attempt without a response. The message contains neither the URL nor its addresses nor the body. */
export class SendFailure extends Error {
  readonly reason: AttemptError

  constructor(reason: AttemptError) {
    super(attemptErrors[reason])
    this.name = 'SendFailure'
    this.reason = reason
  }
}
