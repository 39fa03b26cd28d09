import type { ErrorCode } from './errors.js'

/** What an account has subscribed to: the API document calls it its plan. */
export const tiers = ['free', 'pro', 'enterprise'] as const
export type Tier = (typeof tiers)[number]

export type Limits = {
  /** Requests per clock minute. */
  requestsPerMinute: number
  /** Undefined: no limit. */
  maxWallets: number | undefined
  /** Credits granted anew in each calendar month (UTC). */
  creditsPerMonth: number
}

/** What a tier allows unless an account says otherwise, as the API document states. */
export const limitsOf: Record<Tier, Limits> = {
  free: { requestsPerMinute: 100, maxWallets: 100, creditsPerMonth: 100 },
  pro: { requestsPerMinute: 1_000, maxWallets: 10_000, creditsPerMonth: 10_000 },
  // Custom per account: these hold until an operator sets others.
  enterprise: { requestsPerMinute: 10_000, maxWallets: undefined, creditsPerMonth: 1_000_000 },
}

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
  readCredits: 0,
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
