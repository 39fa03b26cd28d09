import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { coalesce } from '../../../db/client/coalesce.js'

/** Answers each call by its number, a moment later; a call of 0 fails what it travels with. */
const ask = coalesce(async (calls: number[]) => {
  await setImmediate()
  if (calls.includes(0)) throw new Error('lost')
  return calls.map((call) => `answer ${call}`)
})

describe('coalesce', () => {
  test('each of a hundred calls at once gets its own answer', async () => {
    const calls = Array.from({ length: 100 }, (_, i) => i + 1)
    expect(await Promise.all(calls.map(ask))).toEqual(calls.map((call) => `answer ${call}`))
  })

  test('what fails with the statement before is not felt by the next one', async () => {
    const [first, second] = [ask(0), ask(1)]
    await expect(first).rejects.toThrow('lost')
    expect(await second).toBe('answer 1')
  })
})
