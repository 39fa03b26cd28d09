import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import { ServiceError } from '../domain/errors.js'

/**
 * A failure that Temporal tries again. Every error is one, known or not: only an outcome read from an
 * operation's row ends a step. Foreign errors are named by their class only, their messages may hold
 * credentials.
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

/** Says what is waited for. Expected, so neither logged as a failure nor counted as one. */
export function stillWaiting(message: string, nextRetryMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'WAITING',
    message,
    nextRetryDelay: nextRetryMs,
    category: ApplicationFailureCategory.BENIGN,
  })
}

/** The end of a step. */
export function finalFailure(code: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type: code, message, nonRetryable: true })
}

/**
 * An earlier step is not done, though its workflow takes it for done: an operator has completed it by hand, or a reorg
 * has taken it back. The rows bear no end then, the run fails, and the sweeper starts another one.
 */
export function notDone(message: string): ApplicationFailure {
  return finalFailure('NOT_DONE', message)
}
