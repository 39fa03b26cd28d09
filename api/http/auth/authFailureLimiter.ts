import { MINUTE_MS } from '../../../runtime/durations.js'
import type { RateLimit } from '../rateLimit.js'

/**
 * Requests without a valid key per minute and address. The limit protects the database, and supplies the rate-limit
 * headers of their responses.
 */
const SHIELD_LIMIT = 600
/** Maximum number of addresses, and of keys, in memory. The oldest is evicted first. */
const SHIELD_SIZE = 10_000

/**
 * Counts requests without a valid key by address, in this process. Keys that were valid before still pass: many
 * callers may share an address, and one of them must not lock out the others.
 *
 * @param limit - Requests per minute and address.
 */
export function createAuthFailureLimiter(limit = SHIELD_LIMIT) {
  const counted = new Map<string, Omit<RateLimit, 'retryAfter'>>()
  const trusted = new Set<string>()
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
    /** `digest`: of an authenticated key or token. */
    trust(digest: string): void {
      if (trusted.has(digest)) return
      trusted.add(digest)
      dropOldest(trusted)
    },
    trusts: (digest: string | undefined) => digest !== undefined && trusted.has(digest),
  }
}

const withWait = (window: Omit<RateLimit, 'retryAfter'>): RateLimit => ({
  ...window,
  retryAfter: Math.max(1, window.resetAt - Math.floor(Date.now() / 1000)),
})

function dropOldest(remembered: Map<string, unknown> | Set<string>): void {
  if (remembered.size <= SHIELD_SIZE) return
  for (const oldest of remembered.keys()) return void remembered.delete(oldest)
}
export type AuthFailureLimiter = ReturnType<typeof createAuthFailureLimiter>
