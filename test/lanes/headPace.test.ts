import { describe, expect, test } from '@jest/globals'
import { createHeadPace } from '../../lanes/headPace.js'

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
    pace.answered(at, there - found)
    found = there
  }
  return { questions, late }
}

const every = (ms: number, count: number) => Array.from({ length: count }, (_, i) => (i + 1) * ms)

describe('createHeadPace', () => {
  test('blocks at a steady pace take hardly more than a question each, and are found as soon as by asking all the time', () => {
    const { questions, late } = watch(every(1_000, 200))
    // Twenty each while the pace is not known.
    expect(questions).toBeLessThanOrEqual(9 * 20 + 191 * 1.4)
    expect(Math.max(...late)).toBeLessThanOrEqual(POLL_MS)
  })

  test('blocks as far apart as questions are asked for when they are due, not at any time between', () => {
    const { questions, late } = watch(
      every(250, 400).map((at) => at + 137),
      250,
    )
    expect(questions).toBeLessThanOrEqual(400 * 1.4)
    expect(Math.max(...late.slice(40))).toBeLessThanOrEqual(25)
  })

  test('a block now and then that is late or left out does not stop the beat', () => {
    const blocks = every(1_000, 400).map((at, i) => (i % 20 === 7 ? at + 600 : at))
    const { questions, late } = watch(blocks.filter((_at, i) => i % 30 !== 11))
    // Who is waited for is asked for all the time: 20 blocks of 600 ms, 13 of a second.
    expect(questions).toBeLessThanOrEqual(9 * 20 + 400 * 1.4 + 20 * 13 + 13 * 21)
    expect(Math.max(...late.slice(40))).toBeLessThanOrEqual(2 * POLL_MS)
  })

  test('blocks at no pace are hardly found later than by asking all the time', () => {
    const gaps = Array.from({ length: 400 }, (_, i) => 300 + ((i * 7_919) % 1_500))
    let at = 0
    const { late } = watch(gaps.map((gap) => (at += gap)))
    const late95 = [...late].sort((a, b) => a - b)[Math.floor(late.length * 0.9)]
    expect(late95).toBeLessThanOrEqual(2 * POLL_MS)
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

  test('a chain that stands still, and goes on, is found by the next question', () => {
    const { late } = watch([...every(1_000, 20), 600_000, 601_000])
    expect(Math.max(...late)).toBeLessThanOrEqual(POLL_MS)
  })
})
