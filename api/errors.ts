import { ServiceError, errorCatalog } from '../domain/errors.js'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import type { Log } from '../log.js'

/** Seconds after which a client may try again when a part of the service is away. */
const RETRY_AFTER_S = 1

export const answerNotFound: RequestHandler = (request) => {
  throw new ServiceError('NOT_FOUND', `There is no ${request.method} on this path.`)
}

/** Answers every error in the documented shape. What is not ours is logged and told as INTERNAL. */
export function handleErrors(log: Log): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    const requestId = String(response.locals.requestId)
    const known = toServiceError(error)
    const { status } = errorCatalog[known.code]
    if (status >= 500) log.error({ err: error, requestId }, 'request failed')
    if (response.headersSent) {
      next(error)
      return
    }
    if (status === 503) response.set('Retry-After', String(RETRY_AFTER_S))
    response.status(status).json({
      error: known.code,
      message: known.message,
      details: { ...known.details, requestId },
    })
  }
}

/** Errors of Express and its body parser carry a status and a type; 4xx are the caller's. */
type HttpError = { status?: unknown; type?: unknown }
const bodyErrors: Record<string, string> = {
  'entity.parse.failed': 'The body is not valid JSON.',
  'entity.too.large': 'The body is larger than 16 kB.',
  'encoding.unsupported': 'The body has an unsupported encoding.',
  'charset.unsupported': 'The body must be UTF-8.',
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const { status, type } = (error ?? {}) as HttpError
  if (typeof status === 'number' && status >= 400 && status < 500) {
    const message = bodyErrors[String(type)] ?? 'The request is malformed.'
    return new ServiceError('INVALID_REQUEST', message, { issues: [{ path: '', message }] })
  }
  if (isUnavailable(error)) {
    return new ServiceError('UNAVAILABLE', 'The service is temporarily unavailable. Try again.')
  }
  return new ServiceError('INTERNAL', 'Something went wrong. Report the request id.')
}

/** Connection failures and shutdowns of Postgres: classes 08, 53 and 57, and socket errors. */
function isUnavailable(error: unknown): boolean {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (name === 'KnexTimeoutError') return true
  if (typeof code !== 'string') return false
  return /^(08|53|57)/.test(code) || ['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code)
}
