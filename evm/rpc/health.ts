import { backoffMs, MINUTE_MS } from '../../runtime/durations.js'
import type { RpcWaits } from './waits.js'

/** Consecutive failures after which an endpoint counts as unavailable. Each starts after the previous one. */
const STRIKES = 3

export type Health = ReturnType<typeof createHealth>

/**
 * Notified when an endpoint becomes unavailable or available again, and when it throttles requests for longer than a
 * request waits.
 */
export type HealthListener = {
  away(reason: string): void
  back(): void
  throttled(restMs: number): void
}

/** Availability of an endpoint, from its answers. Times are Unix time in ms. */
export function createHealth(listener: HealthListener, waits: RpcWaits) {
  const { timeoutMs, probeMs } = waits
  const rest = createRest(listener, waits)
  let strikes = 0
  let lastStrikeAt = 0
  let awaySince = 0
  let backAt = 0
  let failedProbes = 0
  let nextProbeAt = 0

  function strike(askedAt: number, reason: string): void {
    const now = Date.now()
    if (askedAt < lastStrikeAt) return
    lastStrikeAt = now
    strikes += 1
    if (strikes < STRIKES) return
    const isNew = awaySince === 0
    // After a minute of availability the delays start short again.
    if (isNew && now - backAt > MINUTE_MS) failedProbes = 0
    failedProbes += 1
    nextProbeAt = now + backoffMs(failedProbes, probeMs)
    if (!isNew) return
    awaySince = now
    listener.away(reason)
  }

  return {
    isAway: () => awaySince > 0,
    restsUntil: rest.until,

    /** True once after each delay: the caller then probes the endpoint. */
    isProbeDue(): boolean {
      const now = Date.now()
      if (now < rest.until()) return rest.isProbeDue(now)
      if (awaySince === 0 || now < nextProbeAt) return false
      // Blocks further probes until this one has failed.
      nextProbeAt = now + 2 * timeoutMs
      return true
    },

    answered(askedAt: number): void {
      // A request from before the outage proves nothing about the present.
      if (awaySince > 0 && askedAt < awaySince) return
      if (rest.isAfter(askedAt)) return
      strikes = 0
      const wasReported = rest.end()
      const wasAway = awaySince > 0
      awaySince = 0
      if (wasAway) backAt = Date.now()
      if (wasAway || wasReported) listener.back()
    },

    failed: strike,
    rest: rest.begin,
  }
}

/** The time for which an endpoint throttles requests. During a long one it is probed. */
function createRest(
  listener: Pick<HealthListener, 'throttled'>,
  { timeoutMs, throttledProbeMs }: RpcWaits,
) {
  let until = 0
  let throttledAt = 0
  let nextProbeAt = 0
  let isReported = false
  return {
    until: () => until,
    /** True for a request from before the last throttling: its answer proves nothing. */
    isAfter: (askedAt: number) => until > 0 && askedAt <= throttledAt,

    isProbeDue(now: number): boolean {
      if (now < nextProbeAt) return false
      nextProbeAt = now + throttledProbeMs
      return true
    },

    begin(ms: number): void {
      throttledAt = Date.now()
      nextProbeAt = throttledAt + throttledProbeMs
      until = Math.max(until, throttledAt + ms)
      if (ms < timeoutMs || isReported) return
      isReported = true
      listener.throttled(ms)
    },

    /** @returns True when the throttling was reported. */
    end(): boolean {
      const wasReported = isReported
      isReported = false
      until = 0
      return wasReported
    },
  }
}
