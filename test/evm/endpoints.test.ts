import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type ChainClient } from '../../evm/connect.js'
import { readRetryAfter } from '../../evm/rpc/http.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import {
  asked,
  chain,
  failure,
  price,
  useEndpoints,
  shortWaits,
  waitUntil,
  type LoggedLine,
} from './endpoints.js'
import type { RpcFault, FaultProxy, RpcRequest } from '../support/faultProxy.js'

const account = `0x${'34'.repeat(20)}`
const unknownHash = `0x${'ab'.repeat(32)}`
const { lines, startNode, startProxy, connect, connectTwo } = useEndpoints()

type ForkBlock = { number: string; hash: string }

/** Answers of a node on another, longer chain from a block on. */
const forkedFrom =
  (shared: ForkBlock) =>
  ({ method, params: [number] }: RpcRequest): RpcFault | undefined => {
    if (method !== 'eth_getBlockByNumber' || number === shared.number) return undefined
    const height = number === 'latest' ? '0x20' : number
    return { answer: { ...shared, number: height, hash: `0x${'f0'.repeat(32)}` } }
  }

describe('two endpoints', () => {
  test('the preferred one is used while it is healthy', async () => {
    const { a, b, client } = await connectTwo()
    for (let i = 0; i < 20; i++) await price(client)
    expect([asked(a), asked(b)]).toEqual([20, 0])
  })

  test.each<RpcFault>([
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
  ])('the next one is used when one fails (%j)', async (fault) => {
    const { a, b, client } = await connectTwo()
    a.set(() => fault)
    const all = await Promise.all([price(client), client.send('eth_blockNumber', [])])
    expect(all).toEqual([expect.stringMatching(/^0x/), '0x0'])
    // A refused request is sent again with a single call.
    expect(asked(b)).toBe(1)
    expect(asked(a)).toBeLessThanOrEqual(2)
  })

  test('a revert is an answer, and no second endpoint is asked', async () => {
    const { node, a, b, client } = await connectTwo()
    const to = `0x${'12'.repeat(20)}`
    await callRpc(node.url, 'anvil_setCode', [to, '0x60006000fd'])
    const error = await failure(client.send('eth_call', [{ to }, 'latest']))
    expect(error.details).toMatchObject({ answered: true, reverted: true })
    expect([asked(a, 'eth_call'), asked(b, 'eth_call')]).toEqual([1, 0])
  })

  test('error: RPC_ERROR without an answer when both fail, without a part of their URLs', async () => {
    const { a, b, client } = await connectTwo()
    for (const proxy of [a, b]) proxy.set(() => 'http500')
    for (let i = 0; i < 4; i++) {
      const error = await failure(price(client))
      expect(error.details).toMatchObject({ answered: false, chain: chain.name })
      const text = [error.message, error.stack, JSON.stringify(error.details), error.cause]
      expect(text.join(' ')).not.toMatch(/secret-key|127\.0\.0\.1/)
    }
    expect(lines.map(({ text }) => text).join()).not.toMatch(/secret-key|127\.0\.0\.1/)
  })

  test.each(['2', new Date(Date.now() + 3_600_000).toUTCString()])(
    'one that answers 429 gets no requests for the time that it states (%s)',
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
        // Short enough to wait for: it is asked when its pause ends.
        await price(alone)
      }
      expect(asked(a)).toBe(retryAfter.length > 1 ? 2 : 3)
    },
  )

  test('one that hangs gets single probes only, and is used again when it answers', async () => {
    const { a, b, client } = await connectTwo({ waits: shortWaits })
    await price(client)
    a.set(() => 'silence')
    // Until it counts as unavailable, each late request goes to the other one too.
    await waitUntil(async () => (await price(client)) !== '' && lines.length > 0)
    const before = { a: asked(a), b: asked(b), probes: asked(a, 'eth_chainId') }
    expect(before.a).toBeLessThanOrEqual(1 + 3)
    // A first probe comes soon, and the next one after it has failed.
    let turns = 0
    for (const until = Date.now() + shortWaits.timeoutMs / 2; Date.now() < until; turns++) {
      await Promise.all([price(client), price(client)])
      await sleep(10)
    }
    expect([asked(a), asked(b)]).toEqual([before.a, before.b + 2 * turns])
    expect(asked(a, 'eth_chainId') - before.probes).toBe(1)
    expect(lines).toEqual([
      { level: 'warn', text: expect.stringContaining('endpoint unavailable') },
    ])

    a.set(undefined)
    await waitUntil(async () => (await price(client)) !== '' && asked(a) > before.a)
    expect(lines.at(-1)).toMatchObject({
      level: 'info',
      text: expect.stringContaining('available again'),
    })
    expect(lines.map(({ text }) => text).join()).not.toMatch(/secret-key|127\.0\.0\.1/)
  })

  test('a single unavailable one fails at once without a request', async () => {
    const { a, client } = await connectTwo()
    a.set(() => 'reset')
    await waitUntil(async () => (await price(client)) !== '' && lines.length > 0)
    const [alone, other] = client.endpoints as [ChainClient, ChainClient]
    const before = asked(a)
    expect((await failure(price(alone))).details).toMatchObject({ answered: false, reason: 'away' })
    expect(await price(other)).toMatch(/^0x/)
    expect(asked(a)).toBe(before)
  })

  test('a block that one does not have is requested from the next one', async () => {
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
    expect(lines).toContainEqual({ level: 'warn', text: expect.stringContaining('"behind"') })
    a.set(undefined)
    const before = asked(a)
    await waitUntil(async () => progress().then(() => asked(a) > before + 3))
    expect(lines.at(-1)).toMatchObject({ level: 'info' })
  })

  test('one on a fork is not preferred at any height, and is logged', async () => {
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
    expect(lines).toEqual([{ level: 'warn', text: expect.stringContaining('"on another fork"') }])
  })

  test('one on a fork is not preferred while the other one reports an old common block as its newest', async () => {
    const { node, a, b, client } = await connectTwo({ compareMs: 50 })
    await callRpc(node.url, 'anvil_mine', ['0x2'])
    const shared = await callRpc<ForkBlock>(node.url, 'eth_getBlockByNumber', ['latest', false])
    await callRpc(node.url, 'anvil_mine', ['0x5'])
    b.set(forkedFrom(shared))
    const isLogged = (state: string) => lines.some(({ text }) => text.includes(state))
    await waitUntil(async () => price(client).then(() => isLogged('"on another fork"')))
    const before = asked(b)
    a.set(({ params }) => (params[0] === 'latest' ? { answer: shared } : undefined))
    await waitUntil(async () => price(client).then(() => isLogged('"behind"')))
    for (let i = 0; i < 10; i++) await price(client).then(() => sleep(20))
    expect(asked(b)).toBe(before)
    const isBack = ({ level, text }: LoggedLine) =>
      level === 'info' && text.includes('"endpoint":2')
    expect(lines.filter(isBack)).toEqual([])
  })

  test('an unavailable one is asked again at once when the other one is on a fork', async () => {
    const { node, a, b, client } = await connectTwo({ compareMs: 50 })
    const shared = await callRpc<ForkBlock>(node.url, 'eth_getBlockByNumber', ['0x0', false])
    await callRpc(node.url, 'anvil_mine', ['0x5'])
    b.set(forkedFrom(shared))
    const isLogged = (state: string) => lines.some(({ text }) => text.includes(state))
    await waitUntil(async () => price(client).then(() => isLogged('"on another fork"')))
    a.set(() => 'http500')
    await waitUntil(async () => price(client).then(() => isLogged('endpoint unavailable')))
    a.set(undefined)
    const before = asked(b)
    for (let i = 0; i < 5; i++) await price(client)
    expect(asked(b)).toBe(before)
  })

  test('of three the one on a fork is not used, even when it is the preferred one', async () => {
    const [fork, ours] = [await startNode(), await startNode()]
    await callRpc(fork.url, 'evm_increaseTime', [1_000])
    for (const { url } of [fork, ours]) await callRpc(url, 'anvil_mine', ['0x3'])
    const three = [fork.url, ours.url, ours.url].map(startProxy)
    const [a, b, c] = (await Promise.all(three)) as [FaultProxy, FaultProxy, FaultProxy]
    const client = connect([a, b, c], { compareMs: 50 })
    await waitUntil(async () => (await price(client)) !== '' && asked(b) > 3)
    expect(lines).toEqual([{ level: 'warn', text: expect.stringContaining('"endpoint":1') }])
  })
})

describe('an endpoint of another chain', () => {
  test.each([
    ['is logged by its position and gets no requests', 'at the start'],
    ['that was unavailable at the start gets no requests after its return', 'later'],
  ] as const)('%s', async (_title, when) => {
    const [ours, foreign] = [await startNode(), await startNode(1)]
    const [a, b] = [await startProxy(foreign.url), await startProxy(ours.url)]
    if (when === 'later') a.set(() => 'reset')
    const client = connect([a, b], { compareMs: 50 })
    await price(client)
    a.set(({ method }) => (method === 'eth_gasPrice' ? 'reset' : undefined))
    await waitUntil(async () => (await price(client)) !== '' && lines.some(isError))
    const before = asked(a)
    for (let i = 0; i < 10; i++) await price(client)
    expect(asked(a)).toBe(before)
    expect(lines.find(isError)?.text).toContain('endpoint 1 of RPC_URL_BASE_SEPOLIA serves chain 1')
  })
  const isError = ({ level }: LoggedLine) => level === 'error'
})

describe('load', () => {
  test('calls of one tick share a request; a flood uses few, full requests', async () => {
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

  test('error: RPC_ERROR for calls beyond the queue limit', async () => {
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
