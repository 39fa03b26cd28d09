import { ServiceError, errorCatalog, invalidRequest } from '../../domain/errors.js'
import { reasonCatalog } from '../../domain/reasons.js'
import { forgetCharge, hideCharge } from './credits.js'
import { AnsweredLate, mayBeCommitted } from './deadline.js'
import { noteRefusal } from './requestLog.js'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { Log } from '../../runtime/log.js'

/** Path of the page with an anchor for each code and reason. */
export const ERRORS_PAGE = '/docs/errors'

/** Retry-After of 503 responses, seconds. */
const RETRY_AFTER_S = 1

export const answerNotFound: RequestHandler = () => {
  throw new ServiceError('NOT_FOUND', 'There is no endpoint at this path. See /docs.')
}

/**
 * For a method that the path does not support.
 *
 * @param actions - Paths below the router that change the same resource by POST.
 */
export function methodNotAllowed(
  { method, baseUrl }: Request,
  { allow, actions = [] }: { allow: string[]; actions?: string[] },
): ServiceError {
  const posts = actions.map((path) => `\`POST ${baseUrl}${path}\``)
  const more = posts.length > 0 ? ` Actions: ${posts.join(', ')}.` : ''
  const message = `This path does not support ${method}. Use ${allow.join(' or ')}.${more}`
  return new ServiceError('METHOD_NOT_ALLOWED', message, { allow })
}

/** The documented body of an error. */
export function errorBody(error: ServiceError, requestId: string) {
  const { code, message, details } = error
  return { error: code, message, details: { ...details, docs: docsOf(error), requestId } }
}

/** Link to the documentation of an error: to its reason if it has one, else to its code. */
function docsOf({ code, details: { reason } }: ServiceError): string {
  const isPublished = typeof reason === 'string' && reason in reasonCatalog
  return `${ERRORS_PAGE}#${isPublished ? reason : code}`
}

/** Responds to every error with the documented body. Unexpected errors are logged and reported as INTERNAL. */
export function handleErrors(log: Log): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    const known = noteError(log, response, error)
    const { status } = errorCatalog[known.code]
    // Responses are written in one piece: once the headers are sent, the body is too.
    if (response.headersSent) {
      next()
      return
    }
    if (status === 503) response.set('Retry-After', String(RETRY_AFTER_S))
    if (known.code === 'RATE_LIMITED') response.set('Retry-After', String(known.details.retryAfter))
    if (status === 405) response.set('Allow', (known.details.allow as string[]).join(', '))
    response.status(status).json(errorBody(known, String(response.locals.requestId)))
  }
}

/** Converts an error for the caller. Logs it, notes it for the request log, and resets the charge in the headers. */
export function noteError(log: Log, response: Response, error: unknown): ServiceError {
  const requestId = String(response.locals.requestId)
  if (error instanceof AnsweredLate) log.info({ requestId }, 'late request rolled back')
  const known = toServiceError(error)
  if (errorCatalog[known.code].status >= 500 && !(error instanceof AnsweredLate))
    log.error({ err: error, requestId }, 'request failed')
  if (response.headersSent) return known
  const isUnknown = known.code === 'UNAVAILABLE' && mayBeCommitted(response)
  if (isUnknown) hideCharge(response)
  else forgetCharge(response)
  const sent = isUnknown ? outcomeUnknown() : known
  noteRefusal(response, sent)
  return sent
}

function outcomeUnknown(): ServiceError {
  const message =
    'The service lost track of this request, and it may have been executed. Read the current state before you repeat it, or repeat it with the same Idempotency-Key.'
  return new ServiceError('UNAVAILABLE', message, { reason: 'outcome_unknown' })
}

/** Errors of Express and its body parser have a status and a type. 4xx are errors of the caller. */
type HttpError = { status?: unknown; type?: unknown }
const bodyErrors: Record<string, string> = {
  'entity.too.large': 'The body is larger than 16 kB.',
  'encoding.unsupported': 'The body has an unsupported encoding.',
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const { status, type } = (error ?? {}) as HttpError
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return invalidRequest('', bodyErrors[String(type)] ?? 'The request is malformed.')
  }
  if (isUnavailable(error)) {
    return new ServiceError('UNAVAILABLE', 'The service is temporarily unavailable. Try again.')
  }
  return new ServiceError('INTERNAL', 'Something went wrong. Report the request id.')
}

const networkErrors = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]
/** Messages of pg for lost or failed connections that have no code. knex puts the SQL before them. */
const lostConnection =
  /(Connection terminated( unexpectedly)?|timeout expired|Query read timeout|and is not queryable)$/

/**
 * True when Postgres is unreachable or overloaded: no connection (SQLSTATE class 08), serialization conflicts (40),
 * no resources (53), shutdowns and time limits (57, 55P03, 25P03), no free session, network errors.
 */
function isUnavailable(error: unknown): boolean {
  const { code, name, message } = (error ?? {}) as Partial<Error & { code: unknown }>
  if (name === 'KnexTimeoutError') return true
  if (typeof code !== 'string') return lostConnection.test(message ?? '')
  return /^(08|40|53|57|55P03|25P03)/.test(code) || networkErrors.includes(code)
}
