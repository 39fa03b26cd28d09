/** Every code the service can answer or record, with its HTTP status and what the reader should do next. */
export const errorCatalog = {
  INVALID_REQUEST: { status: 400, hint: 'Correct the request as the message and details say.' },
  INSUFFICIENT_FUNDS: { status: 400, hint: 'Send money to the wallet, or ask for less.' },
  UNAUTHORIZED: {
    status: 401,
    hint: 'Send `Authorization: Bearer svc_sk_…` with a valid API key.',
  },
  FORBIDDEN: { status: 403, hint: 'Use a key with the scope that the call needs.' },
  INSUFFICIENT_CREDITS: { status: 402, hint: 'Wait for the next month, or buy credits.' },
  WALLET_LIMIT_EXCEEDED: { status: 403, hint: 'Use a plan with more wallets.' },
  RATE_LIMITED: { status: 429, hint: 'Send the request again after `Retry-After` seconds.' },
  WALLET_NOT_FOUND: { status: 404, hint: 'Use the id that POST /v1/wallets returned.' },
  INTENT_NOT_FOUND: { status: 404, hint: 'Use the id that POST /v1/intents returned.' },
  NOT_FOUND: { status: 404, hint: 'See the list of endpoints in the README.' },
  BRIDGE_FAILED: { status: 500, hint: 'The money is in the wallet on the source chain.' },
  BRIDGE_TIMEOUT: { status: 503, hint: 'The money is in the bridge. It comes out by itself.' },
  SWAP_FAILED: { status: 500, hint: 'The money is in the wallet, not swapped.' },
  WITHDRAW_FAILED: { status: 500, hint: 'The money is still in the market.' },
  DEPOSIT_FAILED: { status: 500, hint: 'The money is in the wallet on the destination chain.' },
  FUNDING_FAILED: { status: 500, hint: 'No money was sent. Ask for funding again.' },
  NETWORK_ERROR: { status: 503, hint: 'Temporary. It is tried again.' },
  RPC_ERROR: { status: 503, hint: 'Temporary. It is tried again.' },
  CANCELLED: { status: 400, hint: 'Create a new intent.' },
  UNAVAILABLE: { status: 503, hint: 'Temporary. Send the request again after `Retry-After`.' },
  MISCONFIGURED: { status: 500, hint: 'Correct the settings and start the process again.' },
  INTERNAL: { status: 500, hint: 'Report the request id.' },
} as const

export type ErrorCode = keyof typeof errorCatalog
export type ErrorDetails = Record<string, unknown>

/**
 * The one error class of the service. The code decides the HTTP status (`errorCatalog`); the message
 * says what to do next; `details` may be shown to the caller; `cause` stays inside.
 */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
    options?: { cause?: unknown },
  ) {
    super(message, options)
    this.name = 'ServiceError'
    this.code = code
    this.details = details
  }
}
