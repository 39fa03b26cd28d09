import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createRegistry } from '../../../chains/registry.js'
import { bridgeOf, connectAttestations } from '../../../protocols/bridges/bridges.js'

const registry = createRegistry('testnet')
const arbitrum = registry.get('arbitrum-sepolia')
const base = registry.get('base-sepolia')

test('a bridge that no plan can name is refused', () => {
  expect(bridgeOf('cctp').domainOf(base)).toBe(6)
  expect(() => bridgeOf('stargate')).toThrow('No bridge stargate')
  expect(() => bridgeOf('toString')).toThrow('No bridge toString')
})

describe('the routes that a bridge offers', () => {
  let server: Server
  let url: string
  let asked: string[]
  let answer: { status: number; body: unknown }

  beforeEach(async () => {
    asked = []
    answer = { status: 200, body: [] }
    server = createServer(({ url: path = '' }, response) => {
      asked.push(path)
      response.writeHead(answer.status).end(JSON.stringify(answer.body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })

  test('are named after it, the fast one first, a part of a basis point counts', async () => {
    answer.body = [
      { finalityThreshold: 2_000, minimumFee: 0 },
      { finalityThreshold: 1_000, minimumFee: 1.305 },
    ]
    const [fast, standard, ...others] = await connectAttestations(url).readRoutes(arbitrum, base)
    const ends = { protocol: 'cctp', from: 'arbitrum-sepolia', to: 'base-sepolia' }
    expect(fast).toMatchObject({ ...ends, speed: 'fast', feeMillionths: 131n, seconds: [5, 15] })
    expect(standard).toMatchObject({ ...ends, speed: 'standard', feeMillionths: 0n })
    expect(others).toEqual([])
  })

  test('are asked for once for each pair of chains, however many plan', async () => {
    const { readRoutes } = connectAttestations(url)
    await Promise.all([readRoutes(arbitrum, base), readRoutes(arbitrum, base)])
    await readRoutes(arbitrum, base)
    await readRoutes(base, arbitrum)
    expect(asked).toEqual(['/v2/burn/USDC/fees/3/6', '/v2/burn/USDC/fees/6/3'])
  })

  test('are none where the service knows of none', async () => {
    answer = { status: 404, body: {} }
    expect(await connectAttestations(url).readRoutes(arbitrum, base)).toEqual([])
  })

  test('error: NETWORK_ERROR while the service is silent, which holds up one plan', async () => {
    answer = { status: 503, body: {} }
    const { readRoutes } = connectAttestations(url)
    for (let i = 0; i < 3; i++) {
      await expect(readRoutes(arbitrum, base)).rejects.toMatchObject({ code: 'NETWORK_ERROR' })
    }
    expect(asked).toHaveLength(1)
  })

  test('error: NETWORK_ERROR when its answer is of another shape', async () => {
    answer.body = [{ finalityThreshold: 'x', minimumFee: -1 }]
    const routes = connectAttestations(url).readRoutes(arbitrum, base)
    await expect(routes).rejects.toMatchObject({ code: 'NETWORK_ERROR' })
  })
})
