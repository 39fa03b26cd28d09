/** Gaps between heads that are remembered: the next one is taken to be no shorter than the shortest of them. */
const GAPS = 8
/** A chain on which nobody waits for the next block, or which stands still, is asked this often at most. */
export const QUIET_POLL_MS = 250
/** Until then a head that is late is asked for again after this part of how late it is. */
const PART_OF_LATE = 1 / 8

/** When to ask a chain for its next head. Times are milliseconds of one clock. */
export type HeadPace = {
  /** A question was answered. `isNew`: it has found a head that was not known. */
  answered(at: number, isNew: boolean): void
  /** When the next question is due, where one that finds nothing is repeated after `pollMs` at the soonest. */
  nextAt(pollMs: number): number
}

/**
 * Asks for nothing that cannot be there yet. Blocks come at a pace of their own, which is learned from when heads
 * are found; where they come at no pace, or faster than is asked, nothing is left out. Where none has come for longer
 * than lately, questions become fewer.
 */
export function createHeadPace(): HeadPace {
  const gaps: number[] = []
  let foundAt: number | undefined
  let answeredAt = 0
  let isFirst = false
  return {
    answered(at, isNew) {
      answeredAt = at
      if (isNew) {
        // What the first question finds may have come long before.
        if (foundAt !== undefined) gaps.unshift((at - foundAt) / (isFirst ? 2 : 1))
        gaps.splice(GAPS)
        foundAt = at
      }
      isFirst = isNew
    },
    nextAt(pollMs) {
      if (foundAt === undefined || gaps.length < GAPS) return answeredAt + pollMs
      const lateMs = answeredAt - (foundAt + Math.max(...gaps))
      const againMs = Math.max(pollMs, Math.min(lateMs * PART_OF_LATE, QUIET_POLL_MS))
      return Math.max(answeredAt + againMs, foundAt + Math.min(...gaps) - pollMs)
    },
  }
}
