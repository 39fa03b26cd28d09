import {
  retryAfterOf,
  type InsufficientFundsReason,
  type InvalidRequestReason,
  type UnavailableReason,
} from './reasons.js'

/** Hint for failures of intents. */
const RETRY = 'Retry the intent with `POST /v1/intents/:intentId/retry`.'

/** Every error code that the service returns or records: HTTP status, meaning, and the next action. */
export const errorCatalog = {
  INVALID_REQUEST: {
    status: 400,
    meaning:
      'The request is invalid. `details.issues` lists the problems. `details.reason`, where present, names the special case. A body is rejected unless it is JSON in UTF-8 of at most 16 kB, without a field that occurs twice, and without a number that loses digits as a double. An id is rejected when it is blank or has control characters or U+FFFD.',
    hint: 'Correct the request as `message` and `details` describe.',
  },
  INSUFFICIENT_FUNDS: {
    status: 400,
    meaning:
      'The wallet has too little money where the intent needs it. `details` contains `required` and `available`, the `funds` by chain, the amounts `held` by other intents of the wallet, and test money that is `onItsWay`.',
    hint: 'Send money to the wallet, or request a smaller amount.',
  },
  UNAUTHORIZED: {
    status: 401,
    meaning:
      'The API key is missing, malformed, mistyped, unknown, revoked or expired. In the dashboard: the user is not signed in, or the password is wrong.',
    hint: 'Send `Authorization: Bearer svc_sk_…` with a valid API key.',
  },
  INSUFFICIENT_CREDITS: {
    status: 402,
    meaning: 'The call costs more credits than the account has.',
    hint: 'Wait for the next month, or buy credits.',
  },
  FORBIDDEN: {
    status: 403,
    meaning:
      'The API key is valid but does not have the scope of the call, or the account is suspended, or the account or wallet is frozen.',
    hint: 'Use a key with the required scope. Only the operator of this service can lift a suspension or a freeze.',
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
    meaning: 'This path has no endpoint. In the dashboard, also: this id does not exist.',
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
      'The account has sent more requests in this minute than its plan allows, requested more test money in a day than the deployment provides, used up the gas budget of the day, or has too many open streams or intents. `details` contains the `limit` and its `window`.',
    hint: 'Send the request again after `Retry-After` seconds.',
  },
  INTERNAL: {
    status: 500,
    meaning: 'The service has an internal fault.',
    hint: 'Report `details.requestId`.',
  },
  UNAVAILABLE: {
    status: 503,
    meaning:
      'A part of the service or all chains of the request are not responding, or the request waited too long behind other requests of the account. Nothing was executed, unless `details.reason` is `outcome_unknown`.',
    hint: 'Send the request again after `Retry-After` seconds.',
  },
  BRIDGE_FAILED: {
    status: 500,
    meaning: 'The bridge rejected the transfer, or the transaction of the burn failed.',
    hint: RETRY,
  },
  BRIDGE_TIMEOUT: {
    status: 503,
    meaning: 'The money left the source chain and takes far longer than usual to arrive.',
    hint: 'Wait until the intent has `error.recovery`, then retry it.',
  },
  SWAP_FAILED: {
    status: 500,
    meaning: 'The swap failed, or would have returned less than the minimum of the plan.',
    hint: RETRY,
  },
  WITHDRAW_FAILED: {
    status: 500,
    meaning: 'The market rejected the withdrawal.',
    hint: RETRY,
  },
  DEPOSIT_FAILED: {
    status: 500,
    meaning: 'The market rejected the deposit.',
    hint: RETRY,
  },
  FUNDING_FAILED: {
    status: 500,
    meaning: 'The test money of `POST /v1/demo/fund` could not be sent.',
    hint: 'Request it again.',
  },
  NETWORK_ERROR: {
    status: 503,
    meaning: 'A step of the intent could not be attempted for a day.',
    hint: RETRY,
  },
  RPC_ERROR: {
    status: 503,
    meaning: 'For a day the nodes of the chain did not respond, or responded with errors.',
    hint: RETRY,
  },
  CANCELLED: {
    status: 400,
    meaning: 'The intent was cancelled while no step was signed and unfinished.',
    hint: 'Create a new intent.',
  },
  MISCONFIGURED: {
    status: 500,
    meaning: 'A process of the service did not start because its settings are invalid.',
    hint: 'Correct the settings that the message names, and restart it.',
  },
} as const

export type ErrorCode = keyof typeof errorCatalog
export type ServiceErrorDetails = Record<string, unknown>

/** A problem in one part of a request. `path`: field or header, empty for the request as a whole. */
export type RequestIssue = { path: string; message: string }

type CauseOption = { cause?: unknown }
type Reasoned = 'INVALID_REQUEST' | 'INSUFFICIENT_FUNDS' | 'UNAVAILABLE'

/**
 * The one error class of the service. The code decides the HTTP status (`errorCatalog`). The message ends with the
 * next action. `details` may be shown to the caller, `cause` never.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly details: ServiceErrorDetails

  /** Reasons that callers see are in the catalog. */
  constructor(
    code: 'INVALID_REQUEST',
    message: string,
    details?: ServiceErrorDetails & { reason?: InvalidRequestReason },
    options?: CauseOption,
  )
  constructor(
    code: 'INSUFFICIENT_FUNDS',
    message: string,
    details?: ServiceErrorDetails & { reason?: InsufficientFundsReason },
    options?: CauseOption,
  )
  constructor(
    code: 'UNAVAILABLE',
    message: string,
    details?: ServiceErrorDetails & { reason?: UnavailableReason },
    options?: CauseOption,
  )
  constructor(
    code: Exclude<ErrorCode, Reasoned>,
    message: string,
    details?: ServiceErrorDetails,
    options?: CauseOption,
  )
  constructor(
    code: ErrorCode,
    message: string,
    details: ServiceErrorDetails = {},
    options?: CauseOption,
  ) {
    super(message, options)
    this.name = 'ServiceError'
    this.code = code
    this.details = details
  }
}

/**
 * INVALID_REQUEST for one part of the request.
 *
 * @param path - Field or header, empty for the request as a whole.
 * @param message - A complete sentence: the requirement, or the action.
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
 * UNAVAILABLE because a health check found a part of the deployment broken.
 *
 * @param what - The impossible operation: `Nothing can be bridged from base-sepolia`.
 * @param why - A clause.
 */
export function capabilityDisabled(what: string, why: string): ServiceError {
  const details = { reason: 'capability_disabled' } as const
  return new ServiceError('UNAVAILABLE', `${what} now: ${why}.`, details)
}

/** INVALID_REQUEST for several parts of the request. The message names the first few. */
export function invalidFields(issues: RequestIssue[]): ServiceError {
  const sentences = issues.slice(0, MAX_SENTENCES).map(({ message }) => message)
  const more = issues.length - sentences.length
  if (more > 0) sentences.push(`${more} more: see details.issues.`)
  return new ServiceError('INVALID_REQUEST', sentences.join(' '), { issues })
}

/** Bounds the message: a body may contain thousands of unknown fields. */
const MAX_SENTENCES = 5
