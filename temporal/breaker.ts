import { isGrpcServiceError, type WorkflowClientInterceptor } from '@temporalio/client'
import { ServiceError } from '../domain/errors.js'

/** Longer than a start waits: while one asks whether Temporal is back, no other one has to wait for it. */
const OPEN_MS = 2_500

/** Codes of gRPC for a server that was not reached: DEADLINE_EXCEEDED, UNAVAILABLE. */
const UNREACHED = [4, 14]

/**
 * A circuit breaker for starts of workflows. After one that did not reach Temporal the next ones fail at once,
 * but for one each few seconds, so that not every caller waits for the deadline. What is not started here the
 * sweeper starts.
 */
export function createBreaker(): WorkflowClientInterceptor {
  let openUntil = 0
  return {
    async startWithDetails(input, next) {
      if (Date.now() < openUntil) {
        throw new ServiceError('UNAVAILABLE', 'Temporal was away a moment ago. Start it later.')
      }
      // Who comes while this one asks is not to ask too.
      if (openUntil > 0) openUntil = Date.now() + OPEN_MS
      try {
        const started = await next(input)
        openUntil = 0
        return started
      } catch (error) {
        openUntil = isUnreached(error) ? Date.now() + OPEN_MS : 0
        throw error
      }
    },
  }
}

function isUnreached(error: unknown): boolean {
  const { cause = error } = error as { cause?: unknown }
  return isGrpcServiceError(cause) && UNREACHED.includes(cause.code)
}
