import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRegistry } from '../../../evm/registry.js'
import { bridgeOf, connectAttestations } from '../../../evm/bridges/bridges.js'

const registry = createRegistry('testnet')
const arbitrum = registry.get('arbitrum-sepolia')
const base = registry.get('base-sepolia')

test('error: an unknown bridge', () => {
  expect(bridgeOf('cctp').domainOf(base)).toBe(6)
  expect(() => bridgeOf('stargate')).toThrow('No bridge stargate')
  expect(() => bridgeOf('toString')).toThrow('No bridge toString')
})

describe('the attestation service', () => {
  let server: Server
  let url: string
  let asked: string[]
  let answer: { status: number; body: unknown; headers?: Record<string, string> }

  beforeEach(async () => {
    asked = []
    answer = { status: 200, body: [] }
    server = createServer(({ url: path = '' }, response) => {
      asked.push(path)
      response.writeHead(answer.status, answer.headers).end(JSON.stringify(answer.body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })

  test('returns the fee of each speed, with parts of a basis point', async () => {
    answer.body = [
      { finalityThreshold: 2_000, minimumFee: 0 },
      { finalityThreshold: 1_000, minimumFee: 1.305 },
    ]
    const fees = await connectAttestations(url).readFees(arbitrum, base)
    expect(fees).toEqual({ fast: 131n, standard: 0n })
    expect(asked).toEqual(['/v2/burn/USDC/fees/3/6'])
  })

  test('returns no fees for an unknown route', async () => {
    answer = { status: 404, body: {} }
    expect(await connectAttestations(url).readFees(arbitrum, base)).toEqual({})
  })

  test.each([
    ['is silent', { status: 503, body: {} }],
    [
      'answers in another shape',
      { status: 200, body: [{ finalityThreshold: 'x', minimumFee: -1 }] },
    ],
  ])('error: NETWORK_ERROR when it %s', async (_title, next) => {
    answer = next
    const fees = connectAttestations(url).readFees(arbitrum, base)
    await expect(fees).rejects.toMatchObject({ code: 'NETWORK_ERROR', details: {} })
  })

  test('returns no message of a pending burn', async () => {
    const pending = { message: '0x', attestation: 'PENDING', status: 'pending_confirmations' }
    answer.body = { messages: [{ ...pending, eventNonce: '0x01', decodedMessage: null }] }
    const [found] = await connectAttestations(url).readMessages(3, '0x02')
    expect(found).toMatchObject({ message: undefined, attestation: undefined })
  })

  test.each([
    [200, true],
    [400, false],
    [404, false],
  ])('a re-attestation that it answers with %d was taken: %p', async (status, taken) => {
    answer = { status, body: { code: status } }
    expect(await connectAttestations(url).reattest('0x01')).toBe(taken)
  })

  test('error: NETWORK_ERROR after a 429, and no request before the stated time', async () => {
    answer = { status: 429, body: {}, headers: { 'retry-after': '1' } }
    const service = connectAttestations(url)
    const leftAlone = { code: 'NETWORK_ERROR', details: { retryAfter: 1 } }
    await expect(service.readFees(arbitrum, base)).rejects.toMatchObject(leftAlone)
    answer = { status: 200, body: [] }
    await expect(service.readMessages(3, '0x02')).rejects.toMatchObject(leftAlone)
    await expect(service.reattest('0x01')).rejects.toMatchObject(leftAlone)
    expect(asked).toHaveLength(1)
    await sleep(service.restMs() + 10)
    expect(await service.readFees(arbitrum, base)).toEqual({})
  })

  test.each([
    ['names none', {}, 300],
    ['names none that can be read', { 'retry-after': 'soon' }, 300],
    ['names a time far off', { 'retry-after': '999999' }, 600],
  ])('after a 429 that %s it gets no requests', async (_title, headers, seconds) => {
    answer = { status: 429, body: {}, headers }
    const service = connectAttestations(url)
    await expect(service.readFees(arbitrum, base)).rejects.toMatchObject({
      details: { retryAfter: seconds },
    })
    expect(Math.round(service.restMs() / 60_000)).toBe(seconds / 60)
  })
})
