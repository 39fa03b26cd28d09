/** Gaps between blocks that are remembered: without a beat the next one is no shorter than the shortest of them. */
const GAPS = 8

/** When to ask a chain for its next head. Times are milliseconds of one clock. */
export type HeadPace = {
  /** A question was answered at that time. `blocks`: how many have come since the head known before; 0 for none. */
  answered(at: number, blocks: number): void
  /** When the next question is due, where one that finds nothing is repeated after `pollMs` at the latest. */
  nextAt(pollMs: number): number
}

/**
 * Asks for nothing that cannot be there yet. Blocks come at a pace of their own, which is learned from when heads
 * are found. Where it is even, a block is asked for when it is due, as a rule once; where it is not, or faster than
 * is asked, nothing is left out.
 */
export function createHeadPace(): HeadPace {
  const gaps: Gap[] = []
  let [answeredAt, misses] = [0, 0]
  let foundAt: number | undefined
  let isFirst = false
  let beat: Beat | undefined
  /** Blocks found without a beat, and how many it takes until there may be one: more each time that one was none. */
  let [without, needed] = [0, GAPS]

  const find = (found: Found) => {
    const before = beat
    beat = before && keepBeat(before, found)
    if (before && !beat) needed = Math.min(2 * needed, MOST_NEEDED)
    if (beat && beat.since.periods >= LASTING) needed = GAPS
    const ms = found.gapMs / found.blocks
    // What the first question finds may have come long before, unless that was asked when it was due.
    gaps.unshift({ ms, leastMs: isFirst && !beat ? ms / 2 : ms })
    gaps.splice(GAPS)
    without = beat ? 0 : without + 1
    if (without >= needed) beat = findBeat(found.at, gaps)
  }
  return {
    answered(at, blocks) {
      const isNew = blocks > 0
      if (isNew && foundAt !== undefined) find({ at, gapMs: at - foundAt, blocks, misses })
      if (isNew) foundAt = at
      ;[answeredAt, misses, isFirst] = [at, isNew ? 0 : misses + 1, isNew]
    },
    nextAt(pollMs) {
      if (beat && beat.periodMs >= pollMs * SLOWER) {
        if (misses === 0) return beat.dueAt
        return answeredAt + Math.min(pollMs, beat.periodMs * LATER * 2 ** (misses - 1))
      }
      const shortest = gaps.length < GAPS ? 0 : Math.min(...gaps.map(({ leastMs }) => leastMs))
      return Math.max(answeredAt + pollMs, (foundAt ?? 0) + shortest - pollMs)
    },
  }
}

/** From one block to the next, as it was found, and at least. */
type Gap = { ms: number; leastMs: number }

/** Found so long after the head before, that many blocks above it, after so many questions that found nothing. */
type Found = { at: number; gapMs: number; blocks: number; misses: number }

/**
 * An even pace. The period is the mean of those since a time; `hits`: blocks in a row that were there when they were
 * due; `strays`: such as did not fit, less the longer they are ago.
 */
type Beat = {
  dueAt: number
  periodMs: number
  since: { at: number; periods: number }
  hits: number
  strays: number
}

/** Of what is asked, a period is at least so much: a clock that is read twice tells a little less. */
const SLOWER = 0.9
/**
 * In periods: a block that was there when it was due has the next one asked for earlier by the one, one that was not
 * later by the other at most. So about one of five is asked for twice, and those that are found are young.
 */
const [EARLIER, LATER] = [1 / 100, 1 / 25]
/** After so many hits in a row it goes back faster, doubled each time as often as told: it may be late by much. */
const [SLOW_HITS, DOUBLINGS] = [6, 4]
/** In periods: what is found that much sooner than due has come a period before, that much later it does not fit. */
const [EARLY, STRAY] = [1 / 10, 1 / 4]
/** In periods: as far apart are gaps that are alike, as found by questions at other times. */
const UNEVEN = 1 / 2
/** The mean is over so many periods at most, then over half of them: clocks drift. */
const MOST_PERIODS = 128
/** A beat that has lasted for so many periods was one. What was none, again and again, is tried after so many blocks. */
const [LASTING, MOST_NEEDED] = [64, 128]

/** The beat of gaps that are about alike, from the block on that was found at that time. */
function findBeat(at: number, gaps: Gap[]): Beat | undefined {
  const sorted = gaps.map(({ ms }) => ms).sort((a, b) => a - b)
  const periodMs = sorted[sorted.length >> 1] ?? 0
  if (sorted.some((ms) => Math.abs(ms - periodMs) > periodMs * UNEVEN)) return undefined
  const dueAt = at + periodMs * (1 - EARLIER)
  const since = { at: at - periodMs * gaps.length, periods: gaps.length }
  return { dueAt, periodMs, since, hits: 0, strays: 0 }
}

/** Undefined when the second block of late has come at another time than it should. */
function keepBeat(beat: Beat, { at, blocks, misses }: Found): Beat | undefined {
  const { periodMs, dueAt } = beat
  // A block may be left out: the next one comes when that after it would have.
  const passed = Math.floor((at - dueAt) / periodMs + 1 + EARLY)
  const slotAt = dueAt + (passed - 1) * periodMs
  const lateMs = at - slotAt
  const isMissed = misses > 0
  const isStray = blocks > passed || (isMissed && lateMs > periodMs * STRAY)
  const strays = isStray ? beat.strays + 1 : Math.max(beat.strays - 1 / GAPS, 0)
  if (strays > 1) return undefined
  const hits = isMissed ? 0 : beat.hits + 1
  const doublings = Math.min(Math.max(hits - SLOW_HITS, 0), DOUBLINGS)
  const movedMs = isMissed
    ? Math.min(lateMs, periodMs * LATER)
    : -periodMs * EARLIER * 2 ** doublings
  const since = meanSince(beat, at, Math.max(blocks, passed))
  const mean = (at - since.at) / since.periods
  return { dueAt: slotAt + movedMs + mean, periodMs: mean, since, hits, strays }
}

function meanSince({ since }: Beat, at: number, passed: number): Beat['since'] {
  const periods = since.periods + passed
  if (periods <= MOST_PERIODS) return { at: since.at, periods }
  return { at: (since.at + at) / 2, periods: periods / 2 }
}
