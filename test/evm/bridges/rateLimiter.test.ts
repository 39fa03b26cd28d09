import { describe, expect, test } from 'vitest'
import { createRateLimiter } from '../../../evm/bridges/rateLimiter.js'

describe('createRateLimiter', () => {
  const slow = { perSecond: 0.001, burst: 3 }

  test('allows a burst, and returns the time until the next request', async () => {
    const rateLimiter = createRateLimiter(slow)
    for (let i = 0; i < slow.burst; i++) {
      expect(rateLimiter.restMs()).toBe(0)
      expect(await rateLimiter.take()).toBe(true)
    }
    expect(rateLimiter.restMs()).toBeGreaterThan(900_000)
    expect(rateLimiter.restMs()).toBeLessThanOrEqual(1_000_000)
  })

  test('serves waiting callers before later ones', () => {
    const rateLimiter = createRateLimiter({ perSecond: 20, burst: 1 })
    for (let i = 0; i < 11; i++) void rateLimiter.take()
    expect(rateLimiter.restMs()).toBeGreaterThan(500)
  })

  test('allows none while it is closed, including waiting callers', async () => {
    const rateLimiter = createRateLimiter({ perSecond: 50, burst: 1 })
    await rateLimiter.take()
    const waiting = rateLimiter.take()
    rateLimiter.close(3_600_000)
    expect(await waiting).toBe(false)
    expect(await rateLimiter.take()).toBe(false)
    expect(rateLimiter.restMs()).toBeGreaterThan(3_500_000)
  })
})
