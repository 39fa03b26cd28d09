import type { Intent, IntentFailureCode } from './resources/intent.js'
import type { Funding } from './resources/funding.js'
import type { Known } from './known.js'

/** A problem with a part of a request. `path`: field or header; empty for the whole request. */
export type Issue = { path: string; message: string }

/** `details` of every error of the API. */
export type ErrorDetails = { docs?: string; requestId?: string; [field: string]: unknown }

export type InvalidRequestReason = Known<
  | 'user_id_taken'
  | 'idempotency_key_reused'
  | 'event_gone'
  | 'already_signed'
  | 'already_over'
  | 'not_failed'
  | 'not_final'
  | 'funds_in_bridge'
  | 'nothing_left'
  | 'no_route'
  | 'above_maximum'
  | 'above_fee_limit'
  | 'below_fee'
  | 'below_minimum'
  | 'no_swap'
  | 'market_busy'
  | 'webhook_url_refused'
  | 'too_many_webhooks'
  | 'webhook_disabled'
  | 'preview_unknown'
  | 'preview_differs'
>
export type InsufficientFundsReason = Known<'no_liquidity'>
export type UnavailableReason = Known<'capability_disabled' | 'outcome_unknown'>

export type InvalidRequestDetails = {
  issues: Issue[]
  reason?: InvalidRequestReason
  retryAfter?: number
  until?: string
  /** The smallest amount, in whole tokens. */
  smallest?: string
}

/** Money that other intents of the wallet have reserved. */
export type HeldFunds = {
  intentId: string
  step: number
  chain: string
  asset: string
  amount: string
  since: string
  why: Known<'open' | 'not_final'>
  until?: string
}

/** Amounts in whole tokens, as decimal text. */
export type InsufficientFundsDetails = {
  required: string
  available: string
  funds: { chain: string; asset: string; amount: string; protocol?: string }[]
  held?: HeldFunds[]
  onItsWay?: { fundingId: string; chain: string; asset: string; amount: string; since: string }[]
  reason?: InsufficientFundsReason
}

export type RateLimitedDetails = {
  limit: number
  window: Known<'1 minute' | '1 day' | 'open streams' | 'open intents' | 'gas of a UTC day'>
  retryAfter: number
  /** Gas of the day so far, and the estimate of the intent, USD. */
  used?: number
  required?: number
}

/** The parts of an error. `retryAfter` is in seconds. */
export type ErrorFacts = {
  code: string
  message: string
  status?: number | undefined
  details?: ErrorDetails | undefined
  requestId?: string | undefined
  retryAfter?: number | undefined
  idempotencyKey?: string | undefined
  cause?: unknown
}

/** Base class of all errors of this library. An unknown error code is a plain `StewardError`. */
export class StewardError extends Error {
  /** A code of the API, or of this library: CONNECTION, TIMEOUT, INVALID_ANSWER, INVALID_ID, HTTP_<status>. */
  readonly code: string
  /** HTTP status. Undefined without a response. */
  readonly status: number | undefined
  /** Quote this id in support requests. */
  readonly requestId: string | undefined
  readonly details: ErrorDetails
  /** The special case of the code. */
  readonly reason: string | undefined
  /** Seconds after which the call may succeed, when the API returned them. */
  readonly retryAfter: number | undefined
  /** Idempotency key of a POST with an unknown result. A repeated call with this key is executed and charged once. */
  readonly idempotencyKey: string | undefined

  constructor({ code, message, cause, ...facts }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause })
    const { details = {} } = facts
    // Bundlers rename classes. The name in logs must stay the same.
    this.name = nameOf(code)
    this.code = code
    this.status = facts.status
    this.details = details
    this.requestId = facts.requestId ?? details.requestId
    this.reason = typeof details.reason === 'string' ? details.reason : undefined
    this.retryAfter = facts.retryAfter
    this.idempotencyKey = facts.idempotencyKey
  }
}

/** `WalletNotFoundError` for WALLET_NOT_FOUND. */
const nameOf = (code: string) =>
  `${code.replace(/_ERROR$/, '')}_ERROR`
    .toLowerCase()
    .replace(/(?:^|_)([a-z\d])/g, (_match, letter: string) => letter.toUpperCase())

/** 400: the request is not valid. */
export class InvalidRequestError extends StewardError {
  declare readonly code: 'INVALID_REQUEST'
  declare readonly reason: InvalidRequestReason | undefined
  declare readonly details: ErrorDetails & InvalidRequestDetails
}

/** 400: the wallet has too little money where the intent needs it. */
export class InsufficientFundsError extends StewardError {
  declare readonly code: 'INSUFFICIENT_FUNDS'
  declare readonly reason: InsufficientFundsReason | undefined
  declare readonly details: ErrorDetails & InsufficientFundsDetails
}

/** 401: the API key is missing, unknown, revoked or expired. */
export class UnauthorizedError extends StewardError {
  declare readonly code: 'UNAUTHORIZED'
}

/** 402: the call costs more credits than the account has left. */
export class InsufficientCreditsError extends StewardError {
  declare readonly code: 'INSUFFICIENT_CREDITS'
  declare readonly details: ErrorDetails & { required: number; available: number }
}

/** 403: the key has no such scope, or the account is suspended or frozen. */
export class ForbiddenError extends StewardError {
  declare readonly code: 'FORBIDDEN'
}

/** 403: the account has as many wallets as its plan allows. */
export class WalletLimitExceededError extends StewardError {
  declare readonly code: 'WALLET_LIMIT_EXCEEDED'
  declare readonly details: ErrorDetails & { limit: number }
}

/** 404: the account has no such wallet. */
export class WalletNotFoundError extends StewardError {
  declare readonly code: 'WALLET_NOT_FOUND'
}

/** 404: the account has no such intent. */
export class IntentNotFoundError extends StewardError {
  declare readonly code: 'INTENT_NOT_FOUND'
}

/** 404: the account has no such funding. */
export class FundingNotFoundError extends StewardError {
  declare readonly code: 'FUNDING_NOT_FOUND'
}

/** 404: the account has no such webhook. */
export class WebhookNotFoundError extends StewardError {
  declare readonly code: 'WEBHOOK_NOT_FOUND'
}

/** 404: the webhook has no such delivery. */
export class DeliveryNotFoundError extends StewardError {
  declare readonly code: 'DELIVERY_NOT_FOUND'
}

/** 404: unknown endpoint or id. */
export class NotFoundError extends StewardError {
  declare readonly code: 'NOT_FOUND'
}

/** 405: the endpoint does not support the method. */
export class MethodNotAllowedError extends StewardError {
  declare readonly code: 'METHOD_NOT_ALLOWED'
  declare readonly details: ErrorDetails & { allow: string[] }
}

/** 429: the requests exceed the rate limit of the plan, also after retries. */
export class RateLimitedError extends StewardError {
  declare readonly code: 'RATE_LIMITED'
  declare readonly details: ErrorDetails & RateLimitedDetails
}

/** 500: the service failed. */
export class InternalError extends StewardError {
  declare readonly code: 'INTERNAL'
}

/** 503: a part of the service is unavailable. */
export class UnavailableError extends StewardError {
  declare readonly code: 'UNAVAILABLE'
  declare readonly reason: UnavailableReason | undefined
}

/** 503: a node of a chain does not answer. */
export class RpcError extends StewardError {
  declare readonly code: 'RPC_ERROR'
  declare readonly details: ErrorDetails & { silent?: string[] }
}

/** 503: the service cannot reach one of its dependencies. */
export class NetworkError extends StewardError {
  declare readonly code: 'NETWORK_ERROR'
}

/** The connection failed or was lost before the response. */
export class ConnectionError extends StewardError {
  declare readonly code: 'CONNECTION'
}

/** No response, or no end of the wait, within `timeoutMs`. */
export class TimeoutError extends StewardError {
  declare readonly code: 'TIMEOUT'
}

/** The webhook has no valid signature or is too old. Do not act on it. */
export class WebhookVerificationError extends StewardError {
  declare readonly code: 'WEBHOOK_VERIFICATION'
}

/** The intent failed. `code` is the reason; `intent.error` and `intent.funds` contain where the money is. */
export class IntentFailedError extends StewardError {
  declare readonly code: IntentFailureCode
  readonly intent: Intent

  constructor(intent: Intent) {
    const { code = 'INTERNAL', message = `The intent ended as ${intent.status}.` } =
      intent.error ?? {}
    super({ code, message: `${intent.id} failed: ${message}` })
    this.name = 'IntentFailedError'
    this.intent = intent
  }
}

/** The money stayed in the wallet on the source chain. */
export class BridgeFailedError extends IntentFailedError {
  declare readonly code: 'BRIDGE_FAILED'
}

/** The money is in the bridge and arrives later: `intent.error.recovery` is set then. */
export class BridgeTimeoutError extends IntentFailedError {
  declare readonly code: 'BRIDGE_TIMEOUT'
}

/** The money is in the wallet, not swapped. */
export class SwapFailedError extends IntentFailedError {
  declare readonly code: 'SWAP_FAILED'
}

/** The money is still in the market. */
export class WithdrawFailedError extends IntentFailedError {
  declare readonly code: 'WITHDRAW_FAILED'
}

/** The money is in the wallet on the chain of the deposit. */
export class DepositFailedError extends IntentFailedError {
  declare readonly code: 'DEPOSIT_FAILED'
}

/** The intent was cancelled while no step was signed and unfinished. Its completed steps stand. */
export class CancelledError extends IntentFailedError {
  declare readonly code: 'CANCELLED'
}

/** The test money was not sent. */
export class FundingFailedError extends StewardError {
  declare readonly code: 'FUNDING_FAILED'
  readonly funding: Funding

  constructor(funding: Funding) {
    const message = funding.error?.message ?? 'The test money was not sent.'
    super({ code: 'FUNDING_FAILED', message })
    this.funding = funding
  }
}
