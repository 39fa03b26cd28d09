import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { connectChain } from '../../evm/connect.js'
import { createRegistry } from '../../evm/registry.js'
import { shareAtBlock } from '../../evm/shareAtBlock.js'
import type { BlockRef } from '../../evm/read.js'

const chain = createRegistry('testnet').get('base-sepolia')
const client = connectChain(chain, 'http://127.0.0.1:1')
const other = connectChain(chain, 'http://127.0.0.1:1')
afterAll(() => [client, other].forEach((one) => one.close()))

const at = (digit: string, key = '') => ({ block: { blockHash: `0x${digit.repeat(64)}` }, key })

let times: number
let fails: boolean
/** Returns the number of the call. */
const create = () =>
  shareAtBlock(
    async (): Promise<number> => {
      times += 1
      await Promise.resolve()
      if (fails) throw new Error('no answer')
      return times
    },
    ({ key }: { block: BlockRef; key: string }) => key,
  )
let ask: ReturnType<typeof create>
beforeEach(() => {
  times = 0
  fails = false
  ask = create()
})

describe('shareAtBlock', () => {
  test('reads once at a block for concurrent and later callers', async () => {
    expect(await Promise.all([ask(client, at('a')), ask(client, at('a'))])).toEqual([1, 1])
    expect(await ask(client, at('a'))).toBe(1)
  })

  test.each([
    ['another block', () => ask(client, at('b'))],
    ['another question', () => ask(client, at('a', 'other'))],
    ['another chain', () => ask(other, at('a'))],
  ])('reads %s separately', async (_title, askOther) => {
    await ask(client, at('a'))
    expect(await askOther()).toBe(2)
    expect(await ask(client, at('a'))).toBe(1)
  })

  test.each<BlockRef>(['latest', 'finalized', { blockNumber: 7n }])(
    'shares nothing of a block reference that may change: %p',
    async (block) => {
      expect(await ask(client, { block, key: '' })).toBe(1)
      expect(await ask(client, { block, key: '' })).toBe(2)
    },
  )

  test('rejects all waiting callers after a failure, and reads again', async () => {
    fails = true
    const waiting = [ask(client, at('a')), ask(client, at('a'))]
    for (const one of waiting) await expect(one).rejects.toThrow('no answer')
    expect(times).toBe(1)
    fails = false
    expect(await ask(client, at('a'))).toBe(2)
  })

  test('keeps a bounded number of answers', async () => {
    for (let i = 0; i <= 1_000; i++) await ask(client, at('a', String(i)))
    expect(await ask(client, at('a', '1000'))).toBe(1_001)
    expect(await ask(client, at('a', '0'))).toBe(1_002)
  })
})
