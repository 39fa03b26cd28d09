import { backoffMs, MINUTE_MS } from '../../runtime/durations.js'
import type { RpcWaits } from './waits.js'

/** Consecutive failures after which an endpoint counts as unavailable. Each starts after the previous one. */
const STRIKES = 3

export type Health = ReturnType<typeof createHealth>

/** Notified when an endpoint becomes unavailable or available again. */
export type HealthListener = { away(reason: string): void; back(): void }

/** Availability of an endpoint, from its answers. Times are Unix time in ms. */
export function createHealth(listener: HealthListener, { timeoutMs, probeMs }: RpcWaits) {
  let strikes = 0
  let lastStrikeAt = 0
  let awaySince = 0
  let backAt = 0
  let failedProbes = 0
  let nextProbeAt = 0
  let restsUntil = 0

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
      if (awaySince === 0 || now < nextProbeAt || now < restsUntil) return false
      // Blocks further probes until this one has failed.
      nextProbeAt = now + 2 * timeoutMs
      return true
    },

    answered(askedAt: number): void {
      // A request from before the outage proves nothing about the present.
      if (awaySince > 0 && askedAt < awaySince) return
      strikes = 0
      if (awaySince === 0) return
      awaySince = 0
      backAt = Date.now()
      listener.back()
    },

    failed: strike,

    rest(ms: number): void {
      restsUntil = Math.max(restsUntil, Date.now() + ms)
    },
  }
}
