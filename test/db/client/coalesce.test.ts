import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { coalesce } from '../../../db/client/coalesce.js'

/** Returns the number of each call, a moment later. A call of 0 fails its whole batch. */
const ask = coalesce(async (calls: number[]) => {
  await setImmediate()
  if (calls.includes(0)) throw new Error('lost')
  return calls.map((call) => `answer ${call}`)
})

describe('coalesce', () => {
  test('returns its own result to each of a hundred concurrent calls', async () => {
    const calls = Array.from({ length: 100 }, (_, i) => i + 1)
    expect(await Promise.all(calls.map(ask))).toEqual(calls.map((call) => `answer ${call}`))
  })

  test('a failed statement does not affect the next one', async () => {
    const [first, second] = [ask(0), ask(1)]
    await expect(first).rejects.toThrow('lost')
    expect(await second).toBe('answer 1')
  })
})
