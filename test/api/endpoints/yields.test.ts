import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { connectChains } from '../../../evm/connect.js'
import { yields } from '../../../api/schemas/resources.js'
import { sendFrom } from '../../dev/devnet/send.js'
import { closedUrl, startChains, type TestChains } from '../../planning/chains.js'
import { startApi, startWorld, type TestApi, type ApiWorld } from '../api.js'
import type { ChainName } from '../../../evm/registry.js'

/** Governs the markets. */
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const comet = new Interface(['function pause(bool, bool, bool, bool, bool)'])

let chains: TestChains
let world: ApiWorld
let key: string

beforeAll(async () => {
  chains = await startChains()
  world = await startWorld(chains)
  key = await world.newKey()
})
afterAll(async () => {
  await world?.stop()
  await chains?.stop()
})

const get = (query = '', api = world.api) => api.call('GET', `/v1/yields${query}`, { key })
const market = (chain: string, protocol: string, asset: string, apy: number) => ({
  ...{ chain, alias: chain.replace('-sepolia', ''), protocol, asset, apy: expect.closeTo(apy, 1) },
})
const onEthereum = [
  market('ethereum-sepolia', 'aave-v3', 'TUSD', 1.52),
  market('ethereum-sepolia', 'compound-v3', 'USDC', 1.25),
]
const onArbitrum = [market('arbitrum-sepolia', 'aave-v3', 'USDC', 3.51)]
const best = market('base-sepolia', 'aave-v3', 'USDC', 4.12)
const onBase = [best, market('base-sepolia', 'erc4626', 'USDC', 3.7)]
const all = [...onEthereum, ...onArbitrum, ...onBase]

/** The API with clients of its own, so that nothing is remembered yet. */
async function withApi(
  urls: Partial<Record<ChainName, string>>,
  body: (api: TestApi) => Promise<void>,
): Promise<void> {
  const its = connectChains(chains.registry, { ...chains.urls, ...urls })
  const temporal = world.temporal.client
  const api = await startApi({ ...chains, db: world.db, temporal, chains: its })
  try {
    await body(api)
  } finally {
    for (const client of its.list) client.close()
    await api.stop()
  }
}

describe('GET /v1/yields', () => {
  test('200: the rate of every market, and the best one with its reasoning', async () => {
    const { status, body, headers } = await get()
    expect([status, headers.get('x-credits-charged')]).toEqual([200, '1'])
    expect(yields.parse(body)).toEqual(body)
    expect(body).toEqual({
      rates: all,
      best: {
        ...best,
        reasoning: 'aave-v3 on base-sepolia pays 4.12 % on USDC, the best of 5 rates.',
      },
    })
  })

  test('an APY has at most four decimals', async () => {
    const { rates } = (await get()).body as unknown as { rates: { apy: number }[] }
    for (const { apy } of rates) expect(apy).toBe(Math.round(apy * 10_000) / 10_000)
  })

  test.each([
    ['?chain=base', onBase],
    ['?chain=base-sepolia', onBase],
    ['?asset=USDC&protocol=aave-v3', [...onArbitrum, best]],
    ['?asset=TUSD', [onEthereum[0]]],
    ['?chain=Base&asset=usdc&protocol=AAVE-v3', [best]],
    ['?chain=ARBITRUM-SEPOLIA', onArbitrum],
    ['?protocol=compound-v3', [onEthereum[1]]],
    ['?chain=ethereum&asset=USDC', [onEthereum[1]]],
  ])('%s: the rates that match', async (query, rates) => {
    const { body } = await get(query)
    expect(body.rates).toEqual(rates)
  })

  test('?chain=base&asset=TUSD: no rate matches, and none is the best', async () => {
    const { status, body } = await get('?chain=base&asset=TUSD')
    expect([status, body]).toEqual([200, { rates: [], best: null }])
    expect(yields.parse(body)).toEqual(body)
  })

  test('a chain that does not respond is named, the others are returned', async () => {
    await withApi({ 'arbitrum-sepolia': closedUrl }, async (api) => {
      const { status, body } = await get('', api)
      expect([status, yields.parse(body)]).toEqual([200, body])
      expect(body).toMatchObject({
        rates: [...onEthereum, ...onBase],
        ...{ best: { chain: 'base-sepolia' }, unavailable: ['arbitrum-sepolia'] },
      })
    })
  })

  test('error: UNAVAILABLE when no chain responds, and when only a silent one was requested', async () => {
    const urls = { 'ethereum-sepolia': closedUrl, 'arbitrum-sepolia': closedUrl }
    await withApi(urls, async (api) => {
      const { status, body } = await get('?chain=arbitrum', api)
      expect([status, body.error]).toEqual([503, 'UNAVAILABLE'])
      expect(body.message).toContain('arbitrum-sepolia')
    })
    await withApi({ ...urls, 'base-sepolia': closedUrl }, async (api) => {
      expect((await get('', api)).status).toBe(503)
    })
  })

  test('a market that accepts no deposits is omitted', async () => {
    const client = chains.chains.byId(chains.registry.get('ethereum-sepolia').chainId)
    const market = client.chain.markets.find(({ protocol }) => protocol === 'compound-v3')
    const pause = (isPaused: boolean) => {
      const data = comet.encodeFunctionData('pause', [isPaused, false, false, false, false])
      return sendFrom(client, owner, { to: market?.address ?? '', data })
    }
    await pause(true)
    await withApi({}, async (api) => {
      const { status, body } = await get('', api)
      expect([status, body.rates]).toEqual([200, [onEthereum[0], ...onArbitrum, ...onBase]])
    })
    await pause(false)
    await withApi({}, async (api) => expect((await get('', api)).body.rates).toEqual(all))
  })

  test.each([
    ['chain', '?chain=solana'],
    ['asset', '?asset=DAI'],
    ['protocol', '?protocol=compound-v2'],
    ['chain', '?chain='],
    ['chain', '?chain=base&chain=arbitrum'],
    ['assets', '?assets=USDC'],
  ])('error: INVALID_REQUEST names %s in %s', async (path, query) => {
    const { status, body } = await get(query)
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details.issues).toMatchObject([{ path }])
  })
})
