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
export function createHealth(
  listener: HealthListener,
  { timeoutMs, probeMs, throttledProbeMs }: RpcWaits,
) {
  let strikes = 0
  let lastStrikeAt = 0
  let awaySince = 0
  let backAt = 0
  let failedProbes = 0
  let nextProbeAt = 0
  let restsUntil = 0
  let throttledAt = 0
  let nextThrottledProbeAt = 0
  let isThrottleReported = false

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
    restsUntil: () => restsUntil,

    /** True once after each delay: the caller then probes the endpoint. */
    isProbeDue(): boolean {
      const now = Date.now()
      const isResting = now < restsUntil
      if (!isResting && awaySince === 0) return false
      if (now < (isResting ? nextThrottledProbeAt : nextProbeAt)) return false
      // Blocks further probes until this one has failed.
      if (isResting) nextThrottledProbeAt = now + throttledProbeMs
      else nextProbeAt = now + 2 * timeoutMs
      return true
    },

    answered(askedAt: number): void {
      // A request from before the outage or before the throttling proves nothing about the present.
      if (awaySince > 0 && askedAt < awaySince) return
      if (restsUntil > 0 && askedAt <= throttledAt) return
      const wasAway = awaySince > 0
      strikes = 0
      restsUntil = 0
      if (!wasAway && !isThrottleReported) return
      if (wasAway) backAt = Date.now()
      awaySince = 0
      isThrottleReported = false
      listener.back()
    },

    failed: strike,

    rest(ms: number): void {
      throttledAt = Date.now()
      nextThrottledProbeAt = throttledAt + throttledProbeMs
      restsUntil = Math.max(restsUntil, throttledAt + ms)
      if (ms < timeoutMs || isThrottleReported) return
      isThrottleReported = true
      listener.throttled(ms)
    },
  }
}
