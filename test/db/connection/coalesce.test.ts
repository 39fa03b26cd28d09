import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { coalesce } from '../../../db/connection/coalesce.js'

/** A sender whose statements end when they are told to. */
function createSender() {
  const sent: number[][] = []
  const ends: { answer(): void; fail(): void }[] = []
  const send = (calls: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      sent.push(calls)
      ends.push({
        answer: () => resolve(calls.map((call) => `answer ${call}`)),
        fail: () => reject(new Error('lost')),
      })
    })
  return { sent, ends, ask: coalesce(send) }
}

describe('coalesce', () => {
  test('a call alone is sent at once; calls that come meanwhile share the next statement', async () => {
    const { sent, ends, ask } = createSender()
    const answers = Promise.all([1, 2, 3].map(ask))
    expect(sent).toEqual([[1]])
    ends[0]?.answer()
    await setImmediate()
    expect(sent).toEqual([[1], [2, 3]])
    ends[1]?.answer()
    expect(await answers).toEqual(['answer 1', 'answer 2', 'answer 3'])
  })

  test('a statement takes 32 calls at most', async () => {
    const { sent, ends, ask } = createSender()
    const answers = Promise.all(Array.from({ length: 40 }, (_, i) => ask(i)))
    for (let at = 0; at < 3; at++) {
      ends[at]?.answer()
      await setImmediate()
    }
    expect(sent.map((calls) => calls.length)).toEqual([1, 32, 7])
    expect(await answers).toHaveLength(40)
  })

  test('a statement that fails fails its own calls only', async () => {
    const { ends, ask } = createSender()
    const [first, second] = [ask(1), ask(2)]
    ends[0]?.fail()
    await expect(first).rejects.toThrow('lost')
    await setImmediate()
    ends[1]?.answer()
    expect(await second).toBe('answer 2')
  })
})
