/** Subscription tiers of accounts. The API document calls them plans. */
export const tiers = ['free', 'pro', 'enterprise'] as const
export type Tier = (typeof tiers)[number]

export type TierLimits = {
  /** Requests per clock minute. */
  requestsPerMinute: number
  /** Undefined: no limit. */
  maxWallets: number | undefined
  /** Credits granted in each calendar month (UTC). */
  creditsPerMonth: number
}

/** Default limits of each tier, as the API document states. */
export const limitsOf: Record<Tier, TierLimits> = {
  free: { requestsPerMinute: 100, maxWallets: 100, creditsPerMonth: 100 },
  pro: { requestsPerMinute: 1_000, maxWallets: 10_000, creditsPerMonth: 10_000 },
  // Custom per account: the defaults until an operator sets others.
  enterprise: { requestsPerMinute: 10_000, maxWallets: undefined, creditsPerMonth: 1_000_000 },
}

/** Gas in USD that the intents of an account may take from the senders on a UTC day. Undefined: no limit. */
export type GasBudgets = Record<Tier, number | undefined>

/** Default gas budgets of public networks. */
export const defaultGasBudgets: Record<Tier, number> = { free: 50, pro: 2_000, enterprise: 50_000 }
/** Gas of the devnet is free. Its budget only shows the error. */
export const devnetGasBudget = 1_000_000
