import { describe, expect, test } from '@jest/globals'
import { createHeadPace, QUIET_POLL_MS } from '../../lanes/headPace.js'

const POLL_MS = 50

/** Drives a pace by a clock of its own over blocks at the given times: questions, and how late each block was found. */
function watch(blocks: number[], pollMs = POLL_MS) {
  const pace = createHeadPace()
  const late: number[] = []
  let questions = 0
  let found = 0
  for (let at = 0; found < blocks.length; at = Math.max(at + 1, pace.nextAt(pollMs))) {
    questions += 1
    const there = blocks.filter((time) => time <= at).length
    for (const time of blocks.slice(found, there)) late.push(at - time)
    pace.answered(at, there > found)
    found = there
  }
  return { questions, late }
}

const every = (ms: number, count: number) => Array.from({ length: count }, (_, i) => (i + 1) * ms)

describe('createHeadPace', () => {
  test('blocks at a steady pace take three questions each, and are found as soon as by asking all the time', () => {
    const { questions, late } = watch(every(1_000, 200))
    // Twenty each while the pace is not known.
    expect(questions).toBeLessThanOrEqual(9 * 20 + 191 * 3)
    expect(Math.max(...late)).toBeLessThanOrEqual(POLL_MS)
  })

  test('blocks that come faster than is asked: each question is asked', () => {
    const { questions } = watch(every(20, 500))
    expect(questions).toBeGreaterThanOrEqual((500 * 20) / POLL_MS)
  })

  test('a chain that becomes faster is followed within two of its former blocks', () => {
    const slow = every(1_000, 20)
    const fast = every(100, 50).map((ms) => 20_000 + ms)
    const { late } = watch([...slow, ...fast])
    const after = late.slice(20 + 20)
    expect(Math.max(...after)).toBeLessThanOrEqual(POLL_MS)
  })

  test('a chain that is late, and goes on, is found after an eighth of how late it was at most', () => {
    for (const lateMs of [100, 200, 400, 800, 1_600]) {
      const { late } = watch([...every(1_000, 20), 21_000 + lateMs])
      expect(late.at(-1)).toBeLessThanOrEqual(Math.max(POLL_MS, lateMs / 8))
    }
  })

  test('a chain that stands still is asked four times a second, and found by the next question', () => {
    const { questions, late } = watch([...every(1_000, 20), 600_000, 601_000])
    expect(questions).toBeLessThanOrEqual(20 * 20 + 4 * 580 + 60)
    expect(Math.max(...late)).toBeLessThanOrEqual(QUIET_POLL_MS)
    // Whoever is not asked as often is asked as ever.
    const seldom = watch([...every(1_000, 20), 600_000, 601_000], 1_000)
    expect(seldom.questions).toBeGreaterThanOrEqual(590)
  })
})
