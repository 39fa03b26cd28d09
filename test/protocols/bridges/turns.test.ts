import { describe, expect, test } from 'vitest'
import { createTurns } from '../../../protocols/bridges/turns.js'

describe('createTurns', () => {
  const slow = { perSecond: 0.001, burst: 3 }

  test('allows a burst, and returns the time until the next request', async () => {
    const turns = createTurns(slow)
    for (let i = 0; i < slow.burst; i++) {
      expect(turns.restMs()).toBe(0)
      expect(await turns.take()).toBe(true)
    }
    expect(turns.restMs()).toBeGreaterThan(900_000)
    expect(turns.restMs()).toBeLessThanOrEqual(1_000_000)
  })

  test('serves waiting callers before later ones', () => {
    const turns = createTurns({ perSecond: 20, burst: 1 })
    for (let i = 0; i < 11; i++) void turns.take()
    expect(turns.restMs()).toBeGreaterThan(500)
  })

  test('allows none while it is closed, including waiting callers', async () => {
    const turns = createTurns({ perSecond: 50, burst: 1 })
    await turns.take()
    const waiting = turns.take()
    turns.close(3_600_000)
    expect(await waiting).toBe(false)
    expect(await turns.take()).toBe(false)
    expect(turns.restMs()).toBeGreaterThan(3_500_000)
  })
})
