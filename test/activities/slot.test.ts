import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MockActivityEnvironment } from '@temporalio/testing'
import { SLOT_MS, waitInSlot } from '../../activities/slot.js'

/** Instead of a thousand. */
const SLOTS = 20
const stopping = new AbortController().signal
let open: { ended: Promise<void>; hasEnded: boolean }[] = []

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
  })
})
afterEach(async () => {
  await vi.advanceTimersByTimeAsync(SLOT_MS)
  await Promise.all(open.map(({ ended }) => ended))
  open = []
  vi.useRealTimers()
})

/** Waits of activities that nothing ends but their slot's time. */
async function wait(count: number) {
  const made = Array.from({ length: count }, () => {
    const one = { hasEnded: false, ended: Promise.resolve() }
    const until = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => {
          resolve()
        })
      })
    one.ended = new MockActivityEnvironment()
      .run(() => waitInSlot({ stopping, slots: SLOTS }, until))
      .then(() => {
        one.hasEnded = true
      })
    return one
  })
  open.push(...made)
  await vi.advanceTimersByTimeAsync(0)
  return () => made.filter(({ hasEnded }) => hasEnded).length
}

test('waits that hold less than half of the slots keep them for a minute', async () => {
  const ended = await wait(SLOTS / 2)
  await vi.advanceTimersByTimeAsync(SLOT_MS - 1)
  expect(ended()).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(ended()).toBe(SLOTS / 2)
})

test('what waits beyond half of the slots gives them back after seconds, so that other steps find one', async () => {
  const early = await wait(SLOTS / 2)
  const late = await wait(10)
  await vi.advanceTimersByTimeAsync(SLOT_MS / 6)
  expect(late()).toBe(10)
  expect(early()).toBe(0)
  const next = await wait(1)
  await vi.advanceTimersByTimeAsync(SLOT_MS / 6)
  expect(next()).toBe(1)
})
