import { setTimeout as sleep } from 'node:timers/promises'

/** Rate limit of a host: requests per second on average, and the burst after a rest. */
export type RequestRate = { perSecond: number; burst: number }

export type RateLimiter = ReturnType<typeof createRateLimiter>

/** Rate limiter for the requests to one host: a token bucket that can be closed for a time. */
export function createRateLimiter({ perSecond, burst }: RequestRate) {
  /** Negative: that many callers are waiting. */
  let left = burst
  let countedAt = performance.now()
  let closedUntil = 0

  function count(): number {
    const now = performance.now()
    left = Math.min(burst, left + ((now - countedAt) / 1_000) * perSecond)
    countedAt = now
    return now
  }
  const closedMs = () => Math.max(closedUntil - performance.now(), 0)

  return {
    /** Milliseconds until a request would be sent at once. */
    restMs(): number {
      count()
      return Math.max(closedMs(), ((1 - left) / perSecond) * 1_000, 0)
    },

    /** Waits until a request may be sent. False when the limiter is closed by then. */
    async take(): Promise<boolean> {
      if (closedMs() > 0) return false
      count()
      left -= 1
      if (left < 0) await sleep((-left / perSecond) * 1_000)
      return closedMs() === 0
    },

    /** Blocks requests for a time. */
    close(ms: number): void {
      closedUntil = Math.max(closedUntil, performance.now() + ms)
    },
    closedMs,
  }
}
