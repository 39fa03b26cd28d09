import { MINUTE_MS } from '../../../runtime/durations.js'
import type { RateLimit } from '../rateLimit.js'

/**
 * Requests without a valid key per minute and address. The limit protects the database, and supplies the rate-limit
 * headers of their responses.
 */
const SHIELD_LIMIT = 600
/** Maximum number of addresses in memory. The oldest is evicted first. */
const SHIELD_SIZE = 10_000

/**
 * Counts requests without a valid credential by address, in this process.
 *
 * @param limit - Requests per minute and address.
 */
export function createAuthFailureLimiter(limit = SHIELD_LIMIT) {
  const counted = new Map<string, Omit<RateLimit, 'retryAfter'>>()
  const current = (address: string) => {
    const known = counted.get(address)
    if (known && known.resetAt * 1000 > Date.now()) return known
    const resetAt = (Math.floor(Date.now() / MINUTE_MS) + 1) * 60
    const window = { limit, used: 0, resetAt }
    counted.delete(address)
    counted.set(address, window)
    dropOldest(counted)
    return window
  }
  return {
    peek: (address: string): RateLimit => withWait(current(address)),
    count(address: string): RateLimit {
      const window = current(address)
      window.used += 1
      return withWait(window)
    },
  }
}

const withWait = (window: Omit<RateLimit, 'retryAfter'>): RateLimit => ({
  ...window,
  retryAfter: Math.max(1, window.resetAt - Math.floor(Date.now() / 1000)),
})

function dropOldest(remembered: Map<string, unknown>): void {
  if (remembered.size <= SHIELD_SIZE) return
  for (const oldest of remembered.keys()) return void remembered.delete(oldest)
}

export type AuthFailureLimiter = ReturnType<typeof createAuthFailureLimiter>
