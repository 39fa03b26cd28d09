import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createCache } from '../../runtime/cache.js'

describe('createCache', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Whoever is asked answers with how often he was, or fails while `fails`. */
  function createSource() {
    const source = { asked: 0, fails: false }
    const ask = (key: string): Promise<string> => {
      source.asked++
      const answer = `${key} ${source.asked}`
      return source.fails ? Promise.reject(new Error(answer)) : Promise.resolve(answer)
    }
    return { source, ask }
  }

  test('asks once for all who ask before the answer is there', async () => {
    const { source, ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000 })
    const answers = await Promise.all([read('a'), read('a'), read('a')])
    expect([...answers, source.asked]).toEqual(['a 1', 'a 1', 'a 1', 1])
  })

  test('tells each key its own answer', async () => {
    const { source, ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000 })
    expect([await read('a'), await read('b'), await read('a')]).toEqual(['a 1', 'b 2', 'a 1'])
    expect(source.asked).toBe(2)
  })

  test('an answer is as old as it may be, and no older', async () => {
    const { ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000 })
    await read('a')
    vi.advanceTimersByTime(999)
    expect(await read('a')).toBe('a 1')
    vi.advanceTimersByTime(1)
    expect(await read('a')).toBe('a 2')
  })

  test('a question that hangs does not hold up those who come when its time is over', async () => {
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

  test('a failure is told to those who wait, and kept from those who come later', async () => {
    const { source, ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000 })
    source.fails = true
    const results = await Promise.allSettled([read('a'), read('a')])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    source.fails = false
    expect([await read('a'), source.asked]).toEqual(['a 2', 2])
  })

  test('beyond its bound the oldest key is forgotten', async () => {
    const { ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000, max: 2 })
    for (const key of ['a', 'b', 'c']) await read(key)
    expect([await read('b'), await read('c')]).toEqual(['b 2', 'c 3'])
    expect(await read('a')).toBe('a 4')
  })

  test('what is over makes room first', async () => {
    const { ask } = createSource()
    const read = createCache(ask, { ttlMs: 1_000, max: 2 })
    await read('a')
    vi.advanceTimersByTime(600)
    await read('b')
    vi.advanceTimersByTime(400)
    await read('c')
    expect([await read('b'), await read('c')]).toEqual(['b 2', 'c 3'])
  })

  test('keys that are objects are told apart by what is named', async () => {
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
