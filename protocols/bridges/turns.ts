import { setTimeout as sleep } from 'node:timers/promises'

/** How often a host may be asked: so many times a second on average, and so many at once after a rest. */
export type Pace = { perSecond: number; burst: number }

export type Turns = ReturnType<typeof createTurns>

/** Gives turns to ask a host that counts what it is asked, whatever that is. */
export function createTurns({ perSecond, burst }: Pace) {
  /** Below zero: as many have been taken that are still to come. */
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
    /** Until a turn that is taken then comes at once, ms. */
    restMs(): number {
      count()
      return Math.max(closedMs(), ((1 - left) / perSecond) * 1_000, 0)
    },

    /** Takes a turn, at once, and waits until it comes. False when the host is not to be asked then. */
    async take(): Promise<boolean> {
      if (closedMs() > 0) return false
      count()
      left -= 1
      if (left < 0) await sleep((-left / perSecond) * 1_000)
      return closedMs() === 0
    },

    /** The host is not asked for so long. */
    close(ms: number): void {
      closedUntil = Math.max(closedUntil, performance.now() + ms)
    },
    closedMs,
  }
}
