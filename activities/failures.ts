import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import { ServiceError } from '../domain/errors.js'

/**
 * Converts any error to a failure that Temporal retries. Only an outcome read from an operation's row ends a step.
 * Foreign errors are reduced to their class name, because their messages may contain credentials.
 */
export function toRetryable(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error
  const known = error instanceof ServiceError ? error : undefined
  const name = error instanceof Error ? error.name : typeof error
  return ApplicationFailure.create({
    type: known?.code ?? 'INTERNAL',
    message: known?.message ?? `Unexpected ${name}.`,
    nonRetryable: false,
  })
}

/** A benign failure whose message names the wait reason. Temporal neither logs it as an error nor counts it. */
export function stillWaiting(message: string, nextRetryMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'WAITING',
    message,
    nextRetryDelay: nextRetryMs,
    category: ApplicationFailureCategory.BENIGN,
  })
}

/** A failure that ends the step without a retry. */
export function finalFailure(code: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true })
}

/**
 * An earlier step is not done although its workflow considers it done. Either an operator completed its activity by
 * hand, or a reorg reverted it. The rows then support no final status, the run fails, and the sweeper starts a new run.
 */
export function notDone(message: string): ApplicationFailure {
  return finalFailure('NOT_DONE', message)
}
