/** So many failures in a row, each of something asked after the one before, and an endpoint counts as away. */
const STRIKES = 3
/** Pauses between questions whether it is back: they double. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** Who has answered for so long begins with short pauses again. */
const SOUND_AFTER_MS = 60_000

/** What is waited for an answer before another endpoint is asked too; where latency is not known yet. */
const FIRST_PATIENCE_MS = 1_000
const LEAST_PATIENCE_MS = 250
/** Three of these pass before an endpoint that hangs counts as away: less than five seconds. */
const MOST_PATIENCE_MS = 1_500

export type Health = ReturnType<typeof createHealth>

/** Who wants to know when an endpoint goes away and comes back. */
export type HealthListener = { away(reason: string): void; back(): void }

/** What is known of an endpoint from how it has answered. Times are Unix time in ms. */
export function createHealth(listener: HealthListener) {
  let strikes = 0
  let lastStrikeAt = 0
  let awaySince = 0
  let backAt = 0
  let pauseMs = 0
  let nextProbeAt = 0
  let restsUntil = 0
  const latency = createLatency()

  function strike(askedAt: number, reason: string): void {
    const now = Date.now()
    if (askedAt < lastStrikeAt) return
    lastStrikeAt = now
    strikes += 1
    if (strikes < STRIKES) return
    const isNews = awaySince === 0
    const isRelapse = !isNews || now - backAt < SOUND_AFTER_MS
    pauseMs = isRelapse && pauseMs > 0 ? Math.min(2 * pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS
    nextProbeAt = now + pauseMs
    if (!isNews) return
    awaySince = now
    listener.away(reason)
  }

  return {
    isAway: () => awaySince > 0,
    restsUntil: () => restsUntil,
    patienceMs: latency.patienceMs,

    /** True once after each pause: the one who is told so asks whether it is back. */
    isProbeDue(): boolean {
      const now = Date.now()
      if (awaySince === 0 || now < nextProbeAt || now < restsUntil) return false
      nextProbeAt = now + LONGEST_PAUSE_MS
      return true
    },

    answered(askedAt: number): void {
      latency.learn(Date.now() - askedAt)
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

/** Learns how long answers take, as TCP does. @see https://www.rfc-editor.org/rfc/rfc6298#section-2 */
function createLatency() {
  let usualMs: number | undefined
  let deviationMs = 0
  return {
    learn(ms: number): void {
      if (usualMs === undefined) {
        usualMs = ms
        deviationMs = ms / 2
        return
      }
      deviationMs += (Math.abs(ms - usualMs) - deviationMs) / 4
      usualMs += (ms - usualMs) / 8
    },
    patienceMs(): number {
      if (usualMs === undefined) return FIRST_PATIENCE_MS
      const ms = usualMs + 4 * deviationMs
      return Math.min(Math.max(ms, LEAST_PATIENCE_MS), MOST_PATIENCE_MS)
    },
  }
}
