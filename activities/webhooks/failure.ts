import { attemptErrors, type AttemptFailure } from '../../domain/events/webhooks.js'

/** An attempt without a response. The message contains neither the URL nor its addresses nor the body. */
export class SendFailure extends Error {
  readonly reason: AttemptFailure

  constructor(reason: AttemptFailure) {
    super(attemptErrors[reason])
    this.name = 'SendFailure'
    this.reason = reason
  }
}
