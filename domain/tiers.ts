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
