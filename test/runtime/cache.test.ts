import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createCache } from '../../runtime/cache.js'

describe('createCache', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Returns how often it was called, or fails while `fails`. */
  function createSource() {
    const source = { asked: 0, fails: false }
    const ask = (key: string): Promise<string> => {
      source.asked++
      const answer = `${key} ${source.asked}`
      return source.fails ? Promise.reject(new Error(answer)) : Promise.resolve(answer)
    }
    return { source, ask }
  }

  test('loads once for all concurrent reads', async () => {
    const { source, ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000 })
    const answers = await Promise.all([read('a'), read('a'), read('a')])
    expect([...answers, source.asked]).toEqual(['a 1', 'a 1', 'a 1', 1])
  })

  test('returns the value of each key', async () => {
    const { source, ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000 })
    expect([await read('a'), await read('b'), await read('a')]).toEqual(['a 1', 'b 2', 'a 1'])
    expect(source.asked).toBe(2)
  })

  test('keeps a value for its maximum age, and no longer', async () => {
    const { ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000 })
    await read('a')
    vi.advanceTimersByTime(999)
    expect(await read('a')).toBe('a 1')
    vi.advanceTimersByTime(1)
    expect(await read('a')).toBe('a 2')
  })

  test('a load that hangs does not delay reads after its maximum age', async () => {
    let asked = 0
    const read = createCache(
      (key: string) => {
        asked++
        return asked === 1 ? new Promise<string>(() => undefined) : Promise.resolve(key)
      },
      { ttlMs: 1_000 },
    )
    void read('a')
    vi.advanceTimersByTime(1_000)
    expect(await read('a')).toBe('a')
  })

  test('a failure rejects the waiting reads, and is not kept for later ones', async () => {
    const { source, ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000 })
    source.fails = true
    const results = await Promise.allSettled([read('a'), read('a')])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    source.fails = false
    expect([await read('a'), source.asked]).toEqual(['a 2', 2])
  })

  test('drops the oldest key beyond its maximum size', async () => {
    const { ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000, max: 2 })
    for (const key of ['a', 'b', 'c']) await read(key)
    expect([await read('b'), await read('c')]).toEqual(['b 2', 'c 3'])
    expect(await read('a')).toBe('a 4')
  })

  test('drops expired entries first', async () => {
    const { ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000, max: 2 })
    await read('a')
    vi.advanceTimersByTime(600)
    await read('b')
    vi.advanceTimersByTime(400)
    await read('c')
    expect([await read('b'), await read('c')]).toEqual(['b 2', 'c 3'])
  })

  test('identifies object keys by the given identity', async () => {
    const { source, ask } = createSource()
    const read = createCache(({ name }: { name: string }) => ask(name), {
      keyOf: ({ name }) => name,
    })
    expect([await read({ name: 'a' }), await read({ name: 'a' })]).toEqual(['a 1', 'a 1'])
    expect(source.asked).toBe(1)
  })

  test('leaves no timer behind', async () => {
    const { ask } = createSource()
    await createCache(ask, { ttlMs: 1_000 })('a')
    expect(vi.getTimerCount()).toBe(0)
  })
})
