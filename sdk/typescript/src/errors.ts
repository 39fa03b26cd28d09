import type { Intent, IntentFailureCode } from './resources/intent.js'
import type { Funding } from './resources/funding.js'
import type { Known } from './known.js'

/** What is wrong with one part of a request. `path`: field or header; empty for the request as a whole. */
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
  | 'no_swap'
  | 'market_busy'
  | 'webhook_url_refused'
  | 'too_many_webhooks'
  | 'webhook_disabled'
  | 'preview_unknown'
  | 'preview_differs'
>
export type InsufficientFundsReason = Known<'no_liquidity'>
export type UnavailableReason = Known<'capability_disabled'>

export type InvalidRequestDetails = {
  issues: Issue[]
  reason?: InvalidRequestReason
  retryAfter?: number
}

/** Money of other intents of the wallet, which this one would have needed. */
export type HeldFunds = {
  intentId: string
  step: number
  chain: string
  asset: string
  amount: string
  since: string
  why: Known<'open' | 'not_final'>
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
  window: Known<'1 minute' | '1 day' | 'open streams' | 'open intents'>
  retryAfter: number
}

/** What an error is made of. `retryAfter` in seconds. */
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

/** Every error of this library. A code that it does not know yet comes as one of these itself. */
export class StewardError extends Error {
  /** As in the catalog of the API; of this library: CONNECTION, TIMEOUT, INVALID_ANSWER, HTTP_<status>. */
  readonly code: string
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined
  /** Quote it when you ask for help. */
  readonly requestId: string | undefined
  readonly details: ErrorDetails
  /** Names a special case of the code. */
  readonly reason: string | undefined
  /** Seconds after which the call may succeed, where the API has told. */
  readonly retryAfter: number | undefined
  /** Of a POST that may have been done: sent again with it, the call is done once and charged once. */
  readonly idempotencyKey: string | undefined

  constructor({ code, message, cause, ...facts }: ErrorFacts) {
    super(message, cause === undefined ? undefined : { cause })
    const { details = {} } = facts
    // Bundlers rename classes; a name in a log should not depend on them.
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

/** 400: the request cannot be done as it was sent. */
export class InvalidRequestError extends StewardError {
  declare readonly code: 'INVALID_REQUEST'
  declare readonly reason: InvalidRequestReason | undefined
  declare readonly details: ErrorDetails & InvalidRequestDetails
}

/** 400: the wallet lacks the money where the intent needs it. */
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

/** 403: the key lacks the scope, or something is suspended or frozen. */
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

/** 404: no endpoint, or nothing with this id. */
export class NotFoundError extends StewardError {
  declare readonly code: 'NOT_FOUND'
}

/** 405: the endpoint does not support the method. */
export class MethodNotAllowedError extends StewardError {
  declare readonly code: 'METHOD_NOT_ALLOWED'
  declare readonly details: ErrorDetails & { allow: string[] }
}

/** 429: more requests than the plan allows, and retries did not help. */
export class RateLimitedError extends StewardError {
  declare readonly code: 'RATE_LIMITED'
  declare readonly details: ErrorDetails & RateLimitedDetails
}

/** 500: something went wrong in the service. */
export class InternalError extends StewardError {
  declare readonly code: 'INTERNAL'
}

/** 503: a part of the service does not answer now. */
export class UnavailableError extends StewardError {
  declare readonly code: 'UNAVAILABLE'
  declare readonly reason: UnavailableReason | undefined
}

/** 503: a node of a chain does not answer. */
export class RpcError extends StewardError {
  declare readonly code: 'RPC_ERROR'
  declare readonly details: ErrorDetails & { silent?: string[] }
}

/** 503: the network between the service and what it needs. */
export class NetworkError extends StewardError {
  declare readonly code: 'NETWORK_ERROR'
}

/** No connection, or it was lost before the answer had come. */
export class ConnectionError extends StewardError {
  declare readonly code: 'CONNECTION'
}

/** No answer within `timeoutMs`, or what was waited for is not over by then. */
export class TimeoutError extends StewardError {
  declare readonly code: 'TIMEOUT'
}

/** A webhook that was not signed by this secret, or too long ago. Do not act on it. */
export class WebhookVerificationError extends StewardError {
  declare readonly code: 'WEBHOOK_VERIFICATION'
}

/** An intent that was waited for has failed. `code`: why; `intent.error` and `intent.funds` say where the money is. */
export class IntentFailedError extends StewardError {
  declare readonly code: IntentFailureCode
  readonly intent: Intent

  constructor(intent: Intent) {
    const { code = 'INTERNAL', message = `It ended as ${intent.status}.` } = intent.error ?? {}
    super({ code, message: `${intent.id} failed: ${message}` })
    this.name = 'IntentFailedError'
    this.intent = intent
  }
}

/** The money stayed in the wallet on the source chain. */
export class BridgeFailedError extends IntentFailedError {
  declare readonly code: 'BRIDGE_FAILED'
}

/** The money is in the bridge and will come out: `intent.error.recovery` tells when it has. */
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

/** The intent was cancelled before it had a signature. */
export class CancelledError extends IntentFailedError {
  declare readonly code: 'CANCELLED'
}

/** Test money that was waited for was not sent. */
export class FundingFailedError extends StewardError {
  declare readonly code: 'FUNDING_FAILED'
  readonly funding: Funding

  constructor(funding: Funding) {
    const message = funding.error?.message ?? 'The test money was not sent.'
    super({ code: 'FUNDING_FAILED', message })
    this.funding = funding
  }
}
