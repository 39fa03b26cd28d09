import { backoffMs, MINUTE_MS } from '../../durations.js'
import type { RpcWaits } from './waits.js'

/** So many failures in a row, each of something asked after the one before, and an endpoint counts as away. */
const STRIKES = 3

export type Health = ReturnType<typeof createHealth>

/** Who wants to know when an endpoint goes away and comes back. */
export type HealthListener = { away(reason: string): void; back(): void }

/** What is known of an endpoint from how it has answered. Times are Unix time in ms. */
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
    const isNews = awaySince === 0
    // One that has answered for a minute begins with short pauses again.
    if (isNews && now - backAt > MINUTE_MS) failedProbes = 0
    failedProbes += 1
    nextProbeAt = now + backoffMs(failedProbes, probeMs)
    if (!isNews) return
    awaySince = now
    listener.away(reason)
  }

  return {
    isAway: () => awaySince > 0,
    restsUntil: () => restsUntil,

    /** True once after each pause: the caller asks whether it is back. */
    isProbeDue(): boolean {
      const now = Date.now()
      if (awaySince === 0 || now < nextProbeAt || now < restsUntil) return false
      // Until the probe has failed.
      nextProbeAt = now + 2 * timeoutMs
      return true
    },

    answered(askedAt: number): void {
      // The answer to something asked before it went away says nothing about now.
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
