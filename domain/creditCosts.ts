import type { ErrorCode } from './errors.js'

/** Credits per call. Calls without a price in the API document are free. */
export const creditCosts = {
  createWallet: 1,
  readWallet: 1,
  listWallets: 1,
  readBalances: 1,
  readYields: 1,
  readYieldHistory: 1,
  readPositions: 1,
  createIntent: 5,
  readIntent: 1,
  listIntents: 1,
  cancelIntent: 0,
  retryIntent: 5,
  fundWallet: 0,
  readFunding: 0,
  readCredits: 0,
  readEvents: 0,
  createReadToken: 0,
  webhooks: 0,
} as const

/**
 * Failure codes of intents that are refunded when nothing was signed: the service failed, the caller cancelled, or the
 * request would have been rejected free of charge had the chains responded in time.
 */
const freeCodes: ErrorCode[] = [
  'NETWORK_ERROR',
  'RPC_ERROR',
  'INTERNAL',
  'CANCELLED',
  'INSUFFICIENT_FUNDS',
  'INVALID_REQUEST',
]
export const freeFailures: readonly string[] = freeCodes
