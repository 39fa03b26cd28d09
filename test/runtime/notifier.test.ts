import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createNotifier } from '../../runtime/notifier.js'

/** Longer than any test. */
const HOUR_MS = 3_600_000
const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

describe('createNotifier', () => {
  test('wakes a waiting loop, and leaves no listener at the signal', async () => {
    const notifier = createNotifier()
    const { signal } = new AbortController()
    const waiting = notifier.wait(HOUR_MS, signal)
    expect(listeners(signal)).toBe(1)
    notifier.notify()
    await waiting
    expect(listeners(signal)).toBe(0)
  })

  test('a notification without a waiting loop wakes the next one, and only that one', async () => {
    const notifier = createNotifier()
    const stopping = new AbortController()
    notifier.notify()
    await notifier.wait(HOUR_MS, stopping.signal)
    let isAwake = false
    const waiting = notifier.wait(HOUR_MS, stopping.signal).then(() => (isAwake = true))
    await new Promise(setImmediate)
    expect(isAwake).toBe(false)
    stopping.abort()
    await waiting
    expect(isAwake).toBe(true)
  })

  test('wakes after its timeout, and at once when the process stops', async () => {
    const notifier = createNotifier()
    await notifier.wait(1, new AbortController().signal)
    await notifier.wait(HOUR_MS, AbortSignal.abort())
  })
})
