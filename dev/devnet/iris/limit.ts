/** Requests that all callers together may send in any `windowMs`. Above it all callers are rejected for `blockMs`. */
export type Limit = { requests: number; windowMs: number; blockMs: number }

/** @see https://developers.circle.com/cctp/howtos/resolve-stuck-attestation */
export const circleLimit: Limit = { requests: 35, windowMs: 1_000, blockMs: 5 * 60_000 }

/** Counts all requests alike. `blocks`: how often the limit was exceeded. */
export function createLimiter({ requests, windowMs, blockMs }: Limit) {
  /** Times of the requests in the last window. */
  let recent: number[] = []
  let blockedUntil = 0
  let blocks = 0
  return {
    /** Counts a request. False while all callers are rejected. */
    admit(): boolean {
      const now = performance.now()
      if (now < blockedUntil) return false
      recent = [...recent.filter((at) => at > now - windowMs), now]
      if (recent.length <= requests) return true
      blocks += 1
      blockedUntil = now + blockMs
      return false
    },
    blocks: () => blocks,
  }
}
