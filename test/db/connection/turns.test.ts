import { describe, expect, test } from '@jest/globals'
import { setImmediate as turn } from 'node:timers/promises'
import { createTurns } from '../../../db/connection/turns.js'

/** Work that goes on until it is let go; `begun` tells in which order it began. */
function createWork() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  return {
    begun,
    work: (name: string) => () => {
      begun.push(name)
      return new Promise<void>((resolve) => ends.push(resolve))
    },
    async endOne() {
      ends.shift()?.()
      await turn()
    },
  }
}

describe('createTurns', () => {
  test('of one name no more runs than its share, whatever it asks for', async () => {
    const turns = createTurns({ share: 2, patienceMs: 60_000 })
    const { begun, work, endOne } = createWork()
    const all = [1, 2, 3].map((i) => turns.run('a', work(`a${i}`)))
    const others = turns.run('b', work('b1'))
    await turn()
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    await endOne()
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
    for (let i = 0; i < 3; i++) await endOne()
    await Promise.all([...all, others])
  })

  test('what waits goes on name by name', async () => {
    const turns = createTurns({ share: 9, width: 1, patienceMs: 60_000 })
    const { begun, work, endOne } = createWork()
    const names = ['a', 'a', 'a', 'b', 'b', 'c']
    const all = names.map((name) => turns.run(name, work(name)))
    for (let i = 0; i < names.length; i++) {
      await turn()
      expect(begun).toHaveLength(i + 1)
      await endOne()
    }
    await Promise.all(all)
    // The first one began alone.
    expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b'])
  })

  test('error: UNAVAILABLE for what waits too long, and it never begins', async () => {
    const turns = createTurns({ share: 1, patienceMs: 20 })
    const { begun, work, endOne } = createWork()
    const first = turns.run('a', work('first'))
    await expect(turns.run('a', work('late'))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await endOne()
    await first
    expect(begun).toEqual(['first'])
  })

  test('a failure gives its turn to the next', async () => {
    const turns = createTurns({ share: 1, patienceMs: 60_000 })
    const { begun, work, endOne } = createWork()
    const failing = turns.run('a', () => Promise.reject(new Error('no')))
    const next = turns.run('a', work('next'))
    await expect(failing).rejects.toThrow('no')
    await turn()
    expect(begun).toEqual(['next'])
    await endOne()
    await next
  })
})
