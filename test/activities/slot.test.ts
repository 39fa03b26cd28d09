import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MockActivityEnvironment } from '@temporalio/testing'
import { SLOT_MS, waitInSlot } from '../../activities/slot.js'

/** In place of 1,000. */
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

/** Waits that only the slot's time ends. */
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

test('waits in less than half of the slots last for a minute', async () => {
  const ended = await wait(SLOTS / 2)
  await vi.advanceTimersByTimeAsync(SLOT_MS - 1)
  expect(ended()).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(ended()).toBe(SLOTS / 2)
})

test('waits beyond half of the slots release them after seconds', async () => {
  const early = await wait(SLOTS / 2)
  const late = await wait(10)
  await vi.advanceTimersByTimeAsync(SLOT_MS / 6)
  expect(late()).toBe(10)
  expect(early()).toBe(0)
  const next = await wait(1)
  await vi.advanceTimersByTimeAsync(SLOT_MS / 6)
  expect(next()).toBe(1)
})
