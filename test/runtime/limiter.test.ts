import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createLimiter } from '../../runtime/limiter.js'

const refuse = () => new Error('full')

/** Work that ends when it is released, and how much of it has started. */
function createWork() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      begun.push(name)
      ends.push(() => resolve(name))
    })
  return { begun, ends, work }
}

describe('createLimiter', () => {
  test('calls of a key beyond its limit wait in order, calls of another key do not', async () => {
    const run = createLimiter({ atOnce: 2, patienceMs: 60_000 }, refuse)
    const { begun, ends, work } = createWork()
    const calls = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => run(name[0] ?? '', work(name)))
    await setImmediate()
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    ends[0]?.()
    await setImmediate()
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
    for (let at = 1; at < 5; at++) {
      ends[at]?.()
      await setImmediate()
    }
    expect(await Promise.all(calls)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1'])
  })

  test('a call that fails frees its slot', async () => {
    const run = createLimiter({ atOnce: 1, patienceMs: 60_000 }, refuse)
    await expect(run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await run('a', () => Promise.resolve(1))).toBe(1)
  })

  test('error: a call that waits too long, and its work never starts', async () => {
    const run = createLimiter({ atOnce: 1, patienceMs: 20 }, refuse)
    const { begun, ends, work } = createWork()
    const first = run('a', work('first'))
    await expect(run('a', work('second'))).rejects.toThrow('full')
    ends[0]?.()
    expect([await first, begun]).toEqual(['first', ['first']])
    expect(await run('a', () => Promise.resolve('third'))).toBe('third')
  })
})
