import {
  retryAfterOf,
  type InsufficientFundsReason,
  type InvalidRequestReason,
  type UnavailableReason,
} from './reasons.js'

/** Of failed intents. */
const RETRY = 'Retry the intent with `POST /v1/intents/:intentId/retry`.'

/** Every code the service can answer or record: its HTTP status, what happened, and what to do next. */
export const errorCatalog = {
  INVALID_REQUEST: {
    status: 400,
    meaning:
      'The request cannot be done as it was sent. `details.issues` names what is wrong; `details.reason`, where there is one, names the special case.',
    hint: 'Correct the request as `message` and `details` say.',
  },
  INSUFFICIENT_FUNDS: {
    status: 400,
    meaning:
      'The wallet lacks the money where the intent needs it. `details` has what is `required`, what is `available`, in `funds` what lies where, in `held` what other intents of the wallet hold, and in `onItsWay` test money that has not arrived yet.',
    hint: 'Send money to the wallet, or ask for less.',
  },
  UNAUTHORIZED: {
    status: 401,
    meaning:
      'The API key is missing, malformed, unknown, revoked or expired; in the dashboard, nobody is signed in, or the password is wrong.',
    hint: 'Send `Authorization: Bearer svc_sk_…` with a valid API key.',
  },
  INSUFFICIENT_CREDITS: {
    status: 402,
    meaning: 'The call costs more credits than the account has left.',
    hint: 'Wait for the next month, or buy credits.',
  },
  FORBIDDEN: {
    status: 403,
    meaning:
      'The API key is valid, but lacks the scope that the call needs, or the account or the wallet is suspended or frozen.',
    hint: 'Use a key with the scope that the call needs. What is suspended or frozen only the operator of this service releases.',
  },
  WALLET_LIMIT_EXCEEDED: {
    status: 403,
    meaning: 'The account has as many wallets as its plan allows.',
    hint: 'Use a plan with more wallets.',
  },
  WALLET_NOT_FOUND: {
    status: 404,
    meaning: 'The account has no wallet with this id or userId.',
    hint: 'Use the `id` that `POST /v1/wallets` returned, or the `userId` that you sent there.',
  },
  INTENT_NOT_FOUND: {
    status: 404,
    meaning: 'The account has no intent with this id.',
    hint: 'Use the `id` that `POST /v1/intents` returned.',
  },
  FUNDING_NOT_FOUND: {
    status: 404,
    meaning: 'The account has no funding with this id.',
    hint: 'Use the `id` that `POST /v1/demo/fund` returned.',
  },
  WEBHOOK_NOT_FOUND: {
    status: 404,
    meaning: 'The account has no webhook endpoint with this id.',
    hint: 'Use the `id` that `POST /v1/webhooks` returned.',
  },
  DELIVERY_NOT_FOUND: {
    status: 404,
    meaning: 'The webhook endpoint has no delivery with this id. Deliveries are kept for 30 days.',
    hint: 'Use an `id` of `GET /v1/webhooks/:webhookId/deliveries`.',
  },
  NOT_FOUND: {
    status: 404,
    meaning: 'There is no endpoint at this path; in the dashboard also nothing with this id.',
    hint: 'See the list of endpoints at `/docs/api`.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The endpoint exists, but does not support this HTTP method.',
    hint: 'Use one of the methods in the header `Allow`.',
  },
  RATE_LIMITED: {
    status: 429,
    meaning:
      'The account has sent more requests in this minute than its plan allows, asked for more test money in a day than the deployment gives, or has as many streams or intents open as it may. `details` has the `limit` and its `window`.',
    hint: 'Send the request again after `Retry-After` seconds.',
  },
  INTERNAL: {
    status: 500,
    meaning: 'Something went wrong in the service.',
    hint: 'Report `details.requestId`.',
  },
  UNAVAILABLE: {
    status: 503,
    meaning:
      'A part of the service, or every chain that was asked, does not answer now; or the account sends so much at once that this request waited too long for its others.',
    hint: 'Send the request again after `Retry-After` seconds.',
  },
  BRIDGE_FAILED: {
    status: 500,
    meaning: 'The bridge refused the money, or the transaction that sends it there failed.',
    hint: RETRY,
  },
  BRIDGE_TIMEOUT: {
    status: 503,
    meaning: 'The money left the source chain and takes far longer than usual to arrive.',
    hint: 'Wait until the intent has `error.recovery`, then retry it.',
  },
  SWAP_FAILED: {
    status: 500,
    meaning: 'The swap failed, or would have brought less than the minimum of the plan.',
    hint: RETRY,
  },
  WITHDRAW_FAILED: {
    status: 500,
    meaning: 'The market refused to pay the money out.',
    hint: RETRY,
  },
  DEPOSIT_FAILED: {
    status: 500,
    meaning: 'The market refused the deposit.',
    hint: RETRY,
  },
  FUNDING_FAILED: {
    status: 500,
    meaning: 'The test money of `POST /v1/demo/fund` could not be sent.',
    hint: 'Ask for it again.',
  },
  NETWORK_ERROR: {
    status: 503,
    meaning: 'A step of the intent could not be attempted for a day.',
    hint: RETRY,
  },
  RPC_ERROR: {
    status: 503,
    meaning: 'For a day the node of the chain did not answer, or answered with errors.',
    hint: RETRY,
  },
  CANCELLED: {
    status: 400,
    meaning: 'The intent was cancelled before anything of it was signed.',
    hint: 'Create a new intent.',
  },
  MISCONFIGURED: {
    status: 500,
    meaning: 'A process of the service did not start because its settings are wrong.',
    hint: 'Correct the settings that its message names, and start it again.',
  },
} as const

export type ErrorCode = keyof typeof errorCatalog
export type ErrorDetails = Record<string, unknown>

/** What is wrong with one part of a request. `path`: field or header; empty for the request as a whole. */
export type Issue = { path: string; message: string }

type Options = { cause?: unknown }
type Reasoned = 'INVALID_REQUEST' | 'INSUFFICIENT_FUNDS' | 'UNAVAILABLE'

/**
 * The one error class of the service. The code decides the HTTP status (`errorCatalog`); the message
 * says what to do next; `details` may be shown to the caller; `cause` stays inside.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  /** A reason that callers see is one of the catalog. */
  constructor(
    code: 'INVALID_REQUEST',
    message: string,
    details?: ErrorDetails & { reason?: InvalidRequestReason },
    options?: Options,
  )
  constructor(
    code: 'INSUFFICIENT_FUNDS',
    message: string,
    details?: ErrorDetails & { reason?: InsufficientFundsReason },
    options?: Options,
  )
  constructor(
    code: 'UNAVAILABLE',
    message: string,
    details?: ErrorDetails & { reason?: UnavailableReason },
    options?: Options,
  )
  constructor(
    code: Exclude<ErrorCode, Reasoned>,
    message: string,
    details?: ErrorDetails,
    options?: Options,
  )
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: Options) {
    super(message, options)
    this.name = 'ServiceError'
    this.code = code
    this.details = details
  }
}

/**
 * INVALID_REQUEST because of one part of the request.
 *
 * @param path - Field or header; empty for the request as a whole.
 * @param message - A sentence that stands by itself: what is required, or what to do.
 */
export function invalidRequest(
  path: string,
  message: string,
  reason?: InvalidRequestReason,
): ServiceError {
  const retryAfter = reason && retryAfterOf(reason)
  return new ServiceError('INVALID_REQUEST', message, {
    ...(reason && { reason }),
    ...(retryAfter && { retryAfter }),
    issues: [{ path, message }],
  })
}

/**
 * UNAVAILABLE because a probe has found a part of the deployment broken.
 *
 * @param what - What cannot be done: `Nothing can be bridged from base-sepolia`.
 * @param why - A clause.
 */
export function capabilityDisabled(what: string, why: string): ServiceError {
  const details = { reason: 'capability_disabled' } as const
  return new ServiceError('UNAVAILABLE', `${what} now: ${why}.`, details)
}

/** INVALID_REQUEST because of several parts of the request; the message tells the first few. */
export function invalidFields(issues: Issue[]): ServiceError {
  const sentences = issues.slice(0, MAX_SENTENCES).map(({ message }) => message)
  const more = issues.length - sentences.length
  if (more > 0) sentences.push(`${more} more: see details.issues.`)
  return new ServiceError('INVALID_REQUEST', sentences.join(' '), { issues })
}

/** More is not read, and a body may hold thousands of unknown fields. */
const MAX_SENTENCES = 5
