import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type ChainClient } from '../../chains/connect.js'
import { readRetryAfter } from '../../chains/rpc/http.js'
import { callRpc } from '../../devnet/rpc.js'
import {
  asked,
  chain,
  failure,
  price,
  useEndpoints,
  shortWaits,
  waitUntil,
  type Told,
} from './endpoints.js'
import type { Fault, FaultProxy, RpcCall } from '../support/faultProxy.js'

const account = `0x${'34'.repeat(20)}`
const unknownHash = `0x${'ab'.repeat(32)}`
const { told, startNode, startProxy, connect, connectTwo } = useEndpoints()

type BlockId = { number: string; hash: string }

/** Answers of a node whose chain is another one, and longer, from a block on. */
const forkedFrom =
  (shared: BlockId) =>
  ({ method, params: [number] }: RpcCall): Fault | undefined => {
    if (method !== 'eth_getBlockByNumber' || number === shared.number) return undefined
    const told = number === 'latest' ? '0x20' : number
    return { answer: { ...shared, number: told, hash: `0x${'f0'.repeat(32)}` } }
  }

describe('two endpoints', () => {
  test('the preferred one is asked as long as it is well', async () => {
    const { a, b, client } = await connectTwo()
    for (let i = 0; i < 20; i++) await price(client)
    expect([asked(a), asked(b)]).toEqual([20, 0])
  })

  test.each<Fault>([
    'http500',
    'http429',
    'reset',
    'lostReply',
    'garbage',
    { status: 403 },
    { status: 429 },
    { error: { code: -32005, message: 'daily request count exceeded' } },
    { error: { code: -32603, message: 'Internal error' } },
    { error: { code: -32097, message: 'Too Many Requests' } },
  ])('the next one answers where one fails (%j)', async (fault) => {
    const { a, b, client } = await connectTwo()
    a.set(() => fault)
    const all = await Promise.all([price(client), client.send('eth_blockNumber', [])])
    expect(all).toEqual([expect.stringMatching(/^0x/), '0x0'])
    expect([asked(a), asked(b)]).toEqual([1, 1])
  })

  test('a revert is an answer, of which no second one is asked', async () => {
    const { node, a, b, client } = await connectTwo()
    const to = `0x${'12'.repeat(20)}`
    await callRpc(node.url, 'anvil_setCode', [to, '0x60006000fd'])
    const error = await failure(client.send('eth_call', [{ to }, 'latest']))
    expect(error.details).toMatchObject({ answered: true, reverted: true })
    expect([asked(a, 'eth_call'), asked(b, 'eth_call')]).toEqual([1, 0])
  })

  test('error: RPC_ERROR without an answer when both fail, and no word of their URLs', async () => {
    const { a, b, client } = await connectTwo()
    for (const proxy of [a, b]) proxy.set(() => 'http500')
    for (let i = 0; i < 4; i++) {
      const error = await failure(price(client))
      expect(error.details).toMatchObject({ answered: false, chain: chain.name })
      const text = [error.message, error.stack, JSON.stringify(error.details), error.cause]
      expect(text.join(' ')).not.toMatch(/secret-key|127\.0\.0\.1/)
    }
    expect(told.map(({ text }) => text).join()).not.toMatch(/secret-key|127\.0\.0\.1/)
  })

  test.each(['2', new Date(Date.now() + 3_600_000).toUTCString()])(
    'who answers 429 is left alone for as long as it asks for (%s)',
    async (retryAfter) => {
      const { a, b, client } = await connectTwo()
      a.set(() => ({ status: 429, retryAfter }))
      await Promise.all([price(client), price(client)])
      a.set(undefined)
      for (let i = 0; i < 20; i++) await price(client)
      expect([asked(a), asked(b)]).toEqual([2, 22])
      const alone = client.endpoints[0] as ChainClient
      if (retryAfter.length > 1) {
        expect((await failure(price(alone))).details).toMatchObject({ reason: 'too many requests' })
      } else {
        // Worth the wait: it is asked when its pause is over.
        await price(alone)
      }
      expect(asked(a)).toBe(retryAfter.length > 1 ? 2 : 3)
    },
  )

  test('one that hangs is asked no more but for single probes, and comes back', async () => {
    const { a, b, client } = await connectTwo({ waits: shortWaits })
    await price(client)
    a.set(() => 'silence')
    // Until it is known to be away each request goes to the other one as soon as the first is late.
    await waitUntil(async () => (await price(client)) !== '' && told.length > 0)
    const before = { a: asked(a), b: asked(b), probes: asked(a, 'eth_chainId') }
    expect(before.a).toBeLessThanOrEqual(1 + 3)
    // A first probe comes soon, the next one not before it is given up.
    let turns = 0
    for (const until = Date.now() + shortWaits.timeoutMs / 2; Date.now() < until; turns++) {
      await Promise.all([price(client), price(client)])
      await sleep(10)
    }
    expect([asked(a), asked(b)]).toEqual([before.a, before.b + 2 * turns])
    expect(asked(a, 'eth_chainId') - before.probes).toBe(1)
    expect(told).toEqual([{ level: 'warn', text: expect.stringContaining('endpoint unavailable') }])

    a.set(undefined)
    await waitUntil(async () => (await price(client)) !== '' && asked(a) > before.a)
    expect(told.at(-1)).toMatchObject({ level: 'info', text: expect.stringContaining('available again') })
    expect(told.map(({ text }) => text).join()).not.toMatch(/secret-key|127\.0\.0\.1/)
  })

  test('one that is away alone fails at once, and is not asked', async () => {
    const { a, client } = await connectTwo()
    a.set(() => 'reset')
    await waitUntil(async () => (await price(client)) !== '' && told.length > 0)
    const [alone, other] = client.endpoints as [ChainClient, ChainClient]
    const before = asked(a)
    expect((await failure(price(alone))).details).toMatchObject({ answered: false, reason: 'away' })
    expect(await price(other)).toMatch(/^0x/)
    expect(asked(a)).toBe(before)
  })

  test('a block that one does not have is asked of the next one', async () => {
    const [near, far] = [await startNode(), await startNode()]
    await callRpc(far.url, 'anvil_mine', ['0x10'])
    const client = connect([await startProxy(near.url), await startProxy(far.url)])
    const block = await callRpc<{ hash: string }>(far.url, 'eth_getBlockByNumber', ['0xa', false])
    const { hash } = block
    expect(await client.send('eth_getBlockByNumber', ['0xa', false])).toMatchObject({ hash })
    expect(await client.send('eth_getBlockByHash', [hash, false])).toMatchObject({ hash })
    const at = { blockHash: hash, requireCanonical: true }
    expect(await client.send('eth_getBalance', [account, at])).toMatch(/^0x/)
    expect(await client.send('eth_getLogs', [{ blockHash: hash }])).toEqual([])
    const call = { to: account, data: '0x' }
    for (const ref of [at, '0xa']) expect(await client.send('eth_call', [call, ref])).toBe('0x')
    expect(await client.send('eth_getBlockByHash', [unknownHash, false])).toBeNull()
    const error = await failure(client.send('eth_call', [call, { blockHash: unknownHash }]))
    expect(error.details).toMatchObject({ answered: true, reverted: false })
  })

  test('one that lags is not preferred while another one is ahead', async () => {
    const { node, a, b, client } = await connectTwo({ compareMs: 100 })
    const old = await callRpc(node.url, 'eth_getBlockByNumber', ['latest', false])
    a.set(({ params }) => (params[0] === 'latest' ? { answer: old } : undefined))
    const progress = async () => {
      await callRpc(node.url, 'anvil_mine', ['0x1'])
      await price(client)
    }
    await waitUntil(async () => progress().then(() => asked(b) > 3))
    expect(told).toContainEqual({ level: 'warn', text: expect.stringContaining('"behind"') })
    a.set(undefined)
    const before = asked(a)
    await waitUntil(async () => progress().then(() => asked(a) > before + 3))
    expect(told.at(-1)).toMatchObject({ level: 'info' })
  })

  test('one on a fork is not preferred, however high it is, and is told', async () => {
    const [ours, fork] = [await startNode(), await startNode()]
    const [a, b] = [await startProxy(ours.url), await startProxy(fork.url)]
    await callRpc(fork.url, 'evm_increaseTime', [1_000])
    const client = connect([a, b], { compareMs: 50 })
    for (let i = 0; i < 20; i++) {
      await callRpc(ours.url, 'anvil_mine', ['0x1'])
      await callRpc(fork.url, 'anvil_mine', ['0x3'])
      await price(client)
      await sleep(20)
    }
    expect([asked(a), asked(b)]).toEqual([20, 0])
    expect(told).toEqual([{ level: 'warn', text: expect.stringContaining('"on another fork"') }])
  })

  test('one on a fork is not preferred while the other one tells a block from before it as its newest', async () => {
    const { node, a, b, client } = await connectTwo({ compareMs: 50 })
    await callRpc(node.url, 'anvil_mine', ['0x2'])
    const shared = await callRpc<BlockId>(node.url, 'eth_getBlockByNumber', ['latest', false])
    await callRpc(node.url, 'anvil_mine', ['0x5'])
    b.set(forkedFrom(shared))
    const isTold = (state: string) => told.some(({ text }) => text.includes(state))
    await waitUntil(async () => price(client).then(() => isTold('"on another fork"')))
    const before = asked(b)
    a.set(({ params }) => (params[0] === 'latest' ? { answer: shared } : undefined))
    await waitUntil(async () => price(client).then(() => isTold('"behind"')))
    for (let i = 0; i < 10; i++) await price(client).then(() => sleep(20))
    expect(asked(b)).toBe(before)
    const isBack = ({ level, text }: Told) => level === 'info' && text.includes('"endpoint":2')
    expect(told.filter(isBack)).toEqual([])
  })

  test('one that was away is asked again at once where the other one is on a fork', async () => {
    const { node, a, b, client } = await connectTwo({ compareMs: 50 })
    const shared = await callRpc<BlockId>(node.url, 'eth_getBlockByNumber', ['0x0', false])
    await callRpc(node.url, 'anvil_mine', ['0x5'])
    b.set(forkedFrom(shared))
    const isTold = (state: string) => told.some(({ text }) => text.includes(state))
    await waitUntil(async () => price(client).then(() => isTold('"on another fork"')))
    a.set(() => 'http500')
    await waitUntil(async () => price(client).then(() => isTold('endpoint unavailable')))
    a.set(undefined)
    const before = asked(b)
    for (let i = 0; i < 5; i++) await price(client)
    expect(asked(b)).toBe(before)
  })

  test('of three the one on a fork is left out, also when it is the preferred one', async () => {
    const [fork, ours] = [await startNode(), await startNode()]
    await callRpc(fork.url, 'evm_increaseTime', [1_000])
    for (const { url } of [fork, ours]) await callRpc(url, 'anvil_mine', ['0x3'])
    const three = [fork.url, ours.url, ours.url].map(startProxy)
    const [a, b, c] = (await Promise.all(three)) as [FaultProxy, FaultProxy, FaultProxy]
    const client = connect([a, b, c], { compareMs: 50 })
    await waitUntil(async () => (await price(client)) !== '' && asked(b) > 3)
    expect(told).toEqual([{ level: 'warn', text: expect.stringContaining('"endpoint":1') }])
  })
})

describe('an endpoint of another chain', () => {
  test.each([
    ['is told by its place, and not asked', 'at the start'],
    ['that was silent at the start is not asked once it is back', 'later'],
  ] as const)('%s', async (_title, when) => {
    const [ours, foreign] = [await startNode(), await startNode(1)]
    const [a, b] = [await startProxy(foreign.url), await startProxy(ours.url)]
    if (when === 'later') a.set(() => 'reset')
    const client = connect([a, b], { compareMs: 50 })
    await price(client)
    a.set(({ method }) => (method === 'eth_gasPrice' ? 'reset' : undefined))
    await waitUntil(async () => (await price(client)) !== '' && told.some(isError))
    const before = asked(a)
    for (let i = 0; i < 10; i++) await price(client)
    expect(asked(a)).toBe(before)
    expect(told.find(isError)?.text).toContain('endpoint 1 of RPC_URL_BASE_SEPOLIA serves chain 1')
  })
  const isError = ({ level }: Told) => level === 'error'
})

describe('load', () => {
  test('calls of one tick travel together; a flood in few requests, full ones', async () => {
    const proxy = await startProxy((await startNode()).url)
    const client = connect([proxy])
    await Promise.all(Array.from({ length: 100 }, () => price(client)))
    expect(proxy.load.total).toBe(1)
    const waves = Array.from({ length: 200 }, async (_, i) => {
      await sleep(i)
      await Promise.all(Array.from({ length: 10 }, () => price(client)))
    })
    proxy.set(() => sleep(300, undefined))
    await Promise.all(waves)
    expect(asked(proxy)).toBe(2_100)
    expect(proxy.load.most).toBeLessThanOrEqual(32)
    expect(proxy.load.total).toBeLessThan(200)
  })

  test('error: RPC_ERROR for what is too much to wait', async () => {
    const proxy = await startProxy((await startNode()).url)
    const client = connect([proxy])
    const all = await Promise.allSettled(Array.from({ length: 5_001 }, () => price(client)))
    const failed = all.filter(({ status }) => status === 'rejected')
    expect(failed).toHaveLength(1)
    expect(failed[0]).toMatchObject({ reason: { details: { reason: 'too many calls' } } })
  })
})

describe('readRetryAfter', () => {
  const now = Date.UTC(2026, 0, 1)
  test.each([
    ['1', 1_000],
    [' 30 ', 30_000],
    ['0', 0],
    [new Date(now + 5_000).toUTCString(), 5_000],
    [new Date(now - 5_000).toUTCString(), 0],
    ['99999999', 600_000],
    ['soon', undefined],
    [undefined, undefined],
  ])('%j: %j ms', (text, ms) => {
    expect(readRetryAfter(text, now)).toBe(ms)
  })
})
