import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { asked, failure, price, useEndpoints, waitUntil } from '../endpoints.js'
import type { ChainClient } from '../../../evm/connect.js'
import type { Decide, RpcFault } from '../../support/faultProxy.js'

const { lines, startNode, startProxy, connect, connectTwo } = useEndpoints()

const blockNumbers = (client: ChainClient, count: number) =>
  Promise.all(Array.from({ length: count }, () => client.send('eth_blockNumber', [])))

async function connectOne(throttledProbeMs?: number) {
  const proxy = await startProxy((await startNode()).url)
  const waits = throttledProbeMs === undefined ? {} : { throttledProbeMs }
  return { proxy, client: connect([proxy], { waits: { probeMs: 100, ...waits } }) }
}

describe('an endpoint that accepts three calls in a request', () => {
  const tooMany = { code: -32600, message: 'too many items in batch' }
  const beyond =
    (fault: RpcFault): Decide =>
    (_call, index = 0) =>
      index >= 3 ? fault : undefined

  test.each<RpcFault>([
    { status: 413 },
    { status: 500 },
    { status: 400 },
    { body: { jsonrpc: '2.0', id: null, error: tooMany } },
    { body: [{ jsonrpc: '2.0', error: { code: -32000, message: 'no' } }] },
    { error: tooMany },
    { error: { code: 31, message: 'Batch of more than 3 requests are not allowed' } },
  ])('every call is answered (%j)', async (fault) => {
    const { proxy, client } = await connectOne()
    proxy.set(beyond(fault))
    expect(await blockNumbers(client, 100)).toEqual(Array.from({ length: 100 }, () => '0x0'))
    const before = proxy.load.total
    await blockNumbers(client, 30)
    // The limit is known by now. Larger requests are tried rarely.
    expect(proxy.load.total - before).toBeLessThan(30)
    expect(lines).toEqual([])
  })

  test('larger requests are tried again after a while', async () => {
    const { proxy, client } = await connectOne()
    proxy.set(beyond({ status: 413 }))
    await blockNumbers(client, 10)
    proxy.set(undefined)
    await blockNumbers(client, 1_000)
    const before = proxy.load.total
    await blockNumbers(client, 40)
    expect(proxy.load.total - before).toBeLessThan(10)
  })
})

describe('an endpoint that refuses every request', () => {
  test('error: RPC_ERROR after few requests, for all calls', async () => {
    const { proxy, client } = await connectOne()
    proxy.set(() => ({ status: 500 }))
    const all = await Promise.allSettled(Array.from({ length: 100 }, () => price(client)))
    expect(all.every(({ status }) => status === 'rejected')).toBe(true)
    expect(proxy.load.total).toBeLessThanOrEqual(8)
  })
})

describe('a 429 inside an answer', () => {
  const inside: RpcFault[] = [
    { error: { code: 429, message: 'slow down' }, retryAfter: '3600' },
    { error: { code: -32005, message: 'slow down' }, retryAfter: '3600' },
    { error: { code: -32000, message: 'Rate limit reached' }, retryAfter: '3600' },
    { error: { code: -32005, message: 'limit', data: { rate: { backoff_seconds: 3600 } } } },
    {
      error: { code: 429, message: 'slow' },
      retryAfter: new Date(Date.now() + 3_600_000).toUTCString(),
    },
  ]

  test.each(inside)('of a single call rests the endpoint (%j)', async (fault) => {
    const { a, b, client } = await connectTwo()
    a.set(() => fault)
    await price(client)
    a.set(undefined)
    for (let i = 0; i < 10; i++) await price(client)
    expect([asked(a), asked(b)]).toEqual([1, 11])
    const alone = client.endpoints[0] as ChainClient
    expect((await failure(price(alone))).details).toMatchObject({
      ...{ answered: false, reason: 'too many requests' },
    })
  })

  test.each(inside)('of one call in a batch rests the endpoint (%j)', async (fault) => {
    const { a, b, client } = await connectTwo()
    a.set(({ method }) => (method === 'eth_gasPrice' ? fault : undefined))
    const [number, wei] = await Promise.all([client.send('eth_blockNumber', []), price(client)])
    expect([number, wei]).toEqual(['0x0', expect.stringMatching(/^0x/)])
    a.set(undefined)
    for (let i = 0; i < 10; i++) await price(client)
    expect([asked(a), asked(b)]).toEqual([1, 11])
  })

  test('a contract that reverts with such a text has answered', async () => {
    const { proxy, client } = await connectOne()
    const error = { code: 3, message: 'execution reverted: rate limit', data: '0x' }
    proxy.set(({ method }) => (method === 'eth_call' ? { error } : undefined))
    const { details } = await failure(client.send('eth_call', [{ to: `0x${'12'.repeat(20)}` }]))
    expect(details).toMatchObject({ reverted: true })
    expect(await price(client)).toMatch(/^0x/)
  })

  test('a range of logs that is too wide is no throttling', async () => {
    const { proxy, client } = await connectOne()
    const error = { code: -32005, message: 'query returned more than 10000 results' }
    proxy.set(({ method }) => (method === 'eth_getLogs' ? { error } : undefined))
    expect((await failure(client.send('eth_getLogs', [{}]))).details).toMatchObject({
      answered: true,
    })
    expect(await price(client)).toMatch(/^0x/)
  })
})

describe('an only endpoint that answers 429 with an hour of Retry-After', () => {
  const throttling = { status: 429, retryAfter: '3600' }

  async function throttle(throttledProbeMs?: number) {
    const { proxy, client } = await connectOne(throttledProbeMs)
    proxy.set(() => throttling)
    for (let i = 0; i < 6; i++) await failure(price(client))
    return { proxy, client }
  }

  test('is used again after a probe that it answers', async () => {
    const { proxy, client } = await throttle(100)
    proxy.set(undefined)
    await waitUntil(() =>
      price(client).then(
        () => true,
        () => false,
      ),
    )
    expect(client.throttledUntil()).toBeUndefined()
    expect(lines.at(-1)).toMatchObject({
      level: 'info',
      text: expect.stringMatching(/available again/),
    })
  })

  test('gets single probes only, and is logged once', async () => {
    const { proxy, client } = await throttle(200)
    const sent = asked(proxy)
    for (let i = 0; i < 25; i++) {
      await failure(price(client))
      await sleep(20)
    }
    expect(asked(proxy)).toBe(sent)
    expect(asked(proxy, 'eth_chainId')).toBeGreaterThan(0)
    expect(asked(proxy, 'eth_chainId')).toBeLessThanOrEqual(3)
    const throttled = lines.filter(({ text }) => text.startsWith('requests throttled by endpoint'))
    expect(throttled).toEqual([{ level: 'warn', text: expect.stringMatching(/"restSeconds":600/) }])
  })

  test('gets no probe within the first seconds', async () => {
    const { proxy, client } = await throttle()
    for (let i = 0; i < 10; i++) await failure(price(client))
    expect([asked(proxy), asked(proxy, 'eth_chainId')]).toEqual([1, 0])
    expect(client.throttledUntil()).toBeGreaterThan(Date.now())
  })
})
