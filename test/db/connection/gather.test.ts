import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { gather, gatherByName } from '../../../db/connection/gather.js'

/** Longer than what is awaited meanwhile. */
const LONG_MS = 1_000

/** Notes what goes together, and answers each call with itself. */
function createSend() {
  const sent: string[][] = []
  const send = (calls: string[]) => {
    sent.push(calls)
    return Promise.resolve(calls)
  }
  return { sent, send }
}

describe('gather', () => {
  test('a call alone is sent at once, however long it rests after it', async () => {
    const { sent, send } = createSend()
    expect(await gather(send, { restMs: LONG_MS })('a')).toBe('a')
    expect(sent).toEqual([['a']])
  })

  test('without a rest what comes later has a statement of its own', async () => {
    const { sent, send } = createSend()
    const ask = gather(send)
    await ask('a')
    await Promise.all([ask('b'), ask('c')])
    await ask('d')
    expect(sent).toEqual([['a'], ['b', 'c'], ['d']])
  })

  test('who comes while it rests goes together with others who do', async () => {
    const { sent, send } = createSend()
    const ask = gather(send, { restMs: 100 })
    await ask('a')
    const asked = ['b', 'c', 'd'].map(async (call) => ask(call))
    await sleep(0)
    asked.push(ask('e'))
    expect(await Promise.all(asked)).toEqual(['b', 'c', 'd', 'e'])
    expect(sent).toEqual([['a'], ['b', 'c', 'd', 'e']])
  })
})

describe('gatherByName', () => {
  test('rests by name: nobody waits for the rest of another one', async () => {
    const { sent, send } = createSend()
    const line = gatherByName(send, { restMs: LONG_MS })
    await line.add('one', 'a')
    await line.add('other', 'b')
    void line.add('one', 'c')
    await sleep(10)
    expect(sent).toEqual([['a'], ['b']])
  })

  test('a name that has rested is forgotten', async () => {
    const { sent, send } = createSend()
    const line = gatherByName(send, { restMs: 10 })
    await line.add('one', 'a')
    expect(line.has('one')).toBe(true)
    await sleep(100)
    expect(line.has('one')).toBe(false)
    await line.add('one', 'b')
    expect(sent).toEqual([['a'], ['b']])
  })
})
