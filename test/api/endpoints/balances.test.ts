import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toQuantity } from 'ethers'
import { connectChains } from '../../../evm/connect.js'
import { callRpc } from '../../../dev/devnet/rpc.js'
import { balances } from '../../../api/schemas/resources.js'
import { closedUrl, startChains, type TestChains } from '../../planning/chains.js'
import { startApi, startWorld, withoutId, type ApiWorld } from '../api.js'
import type { ChainName } from '../../../evm/registry.js'

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

let users = 0
async function newWallet(): Promise<{ id: string; address: string }> {
  const body = { userId: `user ${(users += 1)}` }
  const created = await world.api.call('POST', '/v1/wallets', { key, body })
  return created.body as unknown as { id: string; address: string }
}

const get = (id: string, as = key, { api }: Pick<ApiWorld, 'api'> = world) =>
  api.call('GET', `/v1/balances/${id}`, { key: as })
const setEth = (chain: ChainName, address: string, wei: bigint) =>
  callRpc(chains.urls[chain], 'anvil_setBalance', [address, toQuantity(wei)])

/** The API with some chains that do not answer, in addition to the one of the world. */
async function startHalf(...silent: ChainName[]) {
  const closed = Object.fromEntries(silent.map((name) => [name, closedUrl]))
  const its = connectChains(chains.registry, { ...chains.urls, ...closed })
  const temporal = world.temporal.client
  const api = await startApi({ ...chains, db: world.db, temporal, chains: its })
  return {
    api,
    async stop() {
      for (const client of its.list) client.close()
      await api.stop()
    },
  }
}

const nothingLent = ({ id }: { id: string }) => ({ lentUsd: 0, positions: `/v1/positions/${id}` })

describe('GET /v1/balances/:walletId', () => {
  test('every supported chain, without tokens where there are no funds', async () => {
    const wallet = await newWallet()
    const { status, body, headers } = await get(wallet.id)
    expect([status, headers.get('x-credits-charged')]).toEqual([200, '1'])
    expect(body).toEqual({
      ...{ walletId: wallet.id, address: wallet.address, totalValueUsd: 0 },
      ...nothingLent(wallet),
      chains: ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'].map((chain) => ({
        ...{ chain, alias: chain.replace('-sepolia', ''), tokens: [] },
      })),
    })
  })

  test('USDC and ETH, exact to the last unit, with their value', async () => {
    const wallet = await newWallet()
    await chains.mint('arbitrum-sepolia', wallet.address, 250_500_001n)
    await chains.mint('base-sepolia', wallet.address, 1n)
    await setEth('base-sepolia', wallet.address, 10n ** 16n + 1n)
    const { body } = await get(wallet.id)
    expect(balances.parse(body)).toEqual(body)
    expect(body).toEqual({
      ...{ walletId: wallet.id, address: wallet.address, ...nothingLent(wallet) },
      chains: [
        { chain: 'ethereum-sepolia', alias: 'ethereum', tokens: [] },
        {
          ...{ chain: 'arbitrum-sepolia', alias: 'arbitrum' },
          tokens: [
            {
              ...{ asset: 'USDC', balance: '250500001', balanceFormatted: '250.500001' },
              ...{ decimals: 6, valueUsd: 250.500001 },
            },
          ],
        },
        {
          ...{ chain: 'base-sepolia', alias: 'base' },
          tokens: [
            {
              ...{ asset: 'USDC', balance: '1', balanceFormatted: '0.000001' },
              ...{ decimals: 6, valueUsd: 0.000001 },
            },
            {
              ...{ asset: 'ETH', balance: '10000000000000001' },
              ...{ balanceFormatted: '0.010000000000000001', decimals: 18, valueUsd: 30 },
            },
          ],
        },
      ],
      totalValueUsd: 280.500002,
    })
  })

  test('ETH without a price has no value, and does not count', async () => {
    const wallet = await newWallet()
    await chains.mint('base-sepolia', wallet.address, 7n)
    await setEth('base-sepolia', wallet.address, 10n ** 16n)
    const to = chains.registry.get('base-sepolia').ethUsdFeed
    await callRpc(chains.urls['base-sepolia'], 'anvil_setCode', [to, '0xfe'])
    const fresh = await startHalf()
    const { status, body } = await get(wallet.id, key, fresh)
    await fresh.stop()
    expect([status, balances.parse(body)]).toEqual([200, body])
    expect(body.chains).toContainEqual({
      ...{ chain: 'base-sepolia', alias: 'base' },
      tokens: [
        expect.objectContaining({ asset: 'USDC', valueUsd: 0.000007 }),
        expect.objectContaining({ asset: 'ETH', valueUsd: null }),
      ],
    })
    expect(body).toMatchObject({ totalValueUsd: 0.000007 })
    expect(body).not.toHaveProperty('unavailable')
  })

  test('a chain that does not respond is named, the others are returned', async () => {
    const wallet = await newWallet()
    await chains.mint('arbitrum-sepolia', wallet.address, 5n)
    const half = await startHalf('base-sepolia')
    const { status, body } = await get(wallet.id, key, half)
    await half.stop()
    expect(status).toBe(200)
    expect(balances.parse(body)).toEqual(body)
    expect(body).toMatchObject({
      chains: [
        { chain: 'ethereum-sepolia', tokens: [] },
        { chain: 'arbitrum-sepolia', tokens: [{ balance: '5' }] },
      ],
      ...{ lentUsd: null, unavailable: ['base-sepolia'] },
    })
  })

  test('error: UNAVAILABLE when no chain responds, free of charge', async () => {
    const { id } = await newWallet()
    const half = await startHalf('ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia')
    const { status, body, headers } = await get(id, key, half)
    await half.stop()
    expect([status, body.error]).toEqual([503, 'UNAVAILABLE'])
    expect([headers.get('retry-after'), headers.get('x-credits-charged')]).toEqual(['1', '0'])
  })

  test('error: WALLET_NOT_FOUND alike for an unknown wallet and one of another account', async () => {
    const { id } = await newWallet()
    const stranger = await world.newKey()
    const unknownId = `svc_wallet_${'0'.repeat(26)}`
    const [theirs, unknown] = [await get(id, stranger), await get(unknownId, stranger)]
    expect([theirs.status, theirs.body.error]).toEqual([404, 'WALLET_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
  })

  test('error: INVALID_REQUEST names a parameter that it does not know', async () => {
    const { status, body } = await get('x?chain=base')
    expect(status).toBe(400)
    expect(body.details).toMatchObject({ issues: [{ path: 'chain' }] })
  })
})
