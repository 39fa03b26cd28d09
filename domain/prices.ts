import type { ErrorCode } from './errors.js'

/** Credits per call. What the API document does not price costs nothing. */
export const prices = {
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
 * Codes of failed intents that cost nothing when nothing of them was ever signed: the service has failed, the caller
 * has cancelled, or the call would have been refused, free of charge, had the chains answered at once.
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
