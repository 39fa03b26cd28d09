import * as errors from '../errors.js'
import type { ErrorDetails, ErrorFacts, StewardError } from '../errors.js'

type ErrorClass = new (facts: ErrorFacts) => StewardError

/** The error class of each code of the API. */
const classes: Record<string, ErrorClass> = {
  INVALID_REQUEST: errors.InvalidRequestError,
  INSUFFICIENT_FUNDS: errors.InsufficientFundsError,
  UNAUTHORIZED: errors.UnauthorizedError,
  INSUFFICIENT_CREDITS: errors.InsufficientCreditsError,
  FORBIDDEN: errors.ForbiddenError,
  WALLET_LIMIT_EXCEEDED: errors.WalletLimitExceededError,
  WALLET_NOT_FOUND: errors.WalletNotFoundError,
  INTENT_NOT_FOUND: errors.IntentNotFoundError,
  FUNDING_NOT_FOUND: errors.FundingNotFoundError,
  WEBHOOK_NOT_FOUND: errors.WebhookNotFoundError,
  DELIVERY_NOT_FOUND: errors.DeliveryNotFoundError,
  NOT_FOUND: errors.NotFoundError,
  METHOD_NOT_ALLOWED: errors.MethodNotAllowedError,
  RATE_LIMITED: errors.RateLimitedError,
  INTERNAL: errors.InternalError,
  UNAVAILABLE: errors.UnavailableError,
  RPC_ERROR: errors.RpcError,
  NETWORK_ERROR: errors.NetworkError,
}

export type ParsedResponse<Body> = { status: number; headers: Headers; body: Body }

/**
 * Parses a response of the API.
 *
 * @throws {StewardError} by the code of the response; HTTP_<status> for a response of another server, such as a proxy.
 */
export async function readAnswer<Body>(response: Response): Promise<ParsedResponse<Body>> {
  const { status, headers } = response
  const body = parseJson(await response.text())
  if (status < 200 || status > 299) throw toError(response, body)
  if (body === undefined) {
    const message = `The response is not JSON (HTTP ${status}). Check baseUrl.`
    throw new errors.StewardError({ code: 'INVALID_ANSWER', message, status })
  }
  return { status, headers, body: body as Body }
}

/** The error of a response other than 2xx. */
export function toError({ status, headers }: Response, body: unknown): StewardError {
  const { error, message, details } = (body ?? {}) as Record<string, unknown>
  const facts = {
    code: typeof error === 'string' ? error : `HTTP_${status}`,
    message: typeof message === 'string' ? message : `HTTP status ${status}.`,
    details: isRecord(details) ? details : undefined,
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfter: retryAfterOf(headers, details),
  }
  const Class = Object.hasOwn(classes, facts.code) ? classes[facts.code] : undefined
  return new (Class ?? errors.StewardError)(facts)
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is ErrorDetails =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Seconds from the `retry-after` header (a number or a date) or from the details. */
function retryAfterOf(headers: Headers, details: unknown): number | undefined {
  const header = headers.get('retry-after')
  if (header !== null) {
    const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
    if (Number.isFinite(seconds)) return Math.max(0, seconds)
  }
  const seconds = isRecord(details) ? details.retryAfter : undefined
  return typeof seconds === 'number' ? seconds : undefined
}
