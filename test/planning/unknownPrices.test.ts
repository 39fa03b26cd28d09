import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Interface, Wallet } from 'ethers'
import { defaultLimits } from '../../domain/limits.js'
import { connectChains, type Chains } from '../../evm/connect.js'
import { readEthPrice } from '../../evm/prices.js'
import { readHoldings } from '../../evm/balances.js'
import { devnetOwner } from '../../dev/devnet/deploy.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { readMarket } from '../../planning/market.js'
import { planWithReservations } from '../../planning/plan.js'
import { insertTestWallet, type TestWallet } from '../db/rows.js'
import { passTime, sendFrom } from '../dev/devnet/send.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { startChains, type TestChains } from './chains.js'
import type { ChainName } from '../../evm/registry.js'

const names = ['arbitrum-sepolia', 'base-sepolia'] as const
const [arbitrum, base] = names
const usdc = 1_000_000n
const E8 = 10n ** 8n
const feed = new Interface(['function setAnswer(int256 answer)'])
/** Code that reverts, and code of a feed whose price is two days older than the block. */
const REVERTS = '0xfe'
const STALE = [
  ...['60015f52', '6445d964b800602052', '5f604052', '6202a3004203606052', '6001608052'],
  '60a05ff3',
].join('')

let database: TestDatabase
let world: TestChains
let chains: Chains
let wallet: TestWallet
let clean: Record<string, string>

beforeAll(async () => {
  ;[database, world] = await Promise.all([createDatabase(), startChains(names)])
  wallet = await insertTestWallet(database.db, Wallet.createRandom().address)
  await world.mint(base, wallet.address, 20n * usdc)
})
beforeEach(async () => {
  clean = {}
  for (const name of names) clean[name] = await callRpc(world.urls[name], 'evm_snapshot')
  // New clients, so that no price is remembered.
  chains = connectChains(world.registry, world.urls)
})
afterEach(async () => {
  for (const client of chains.list) client.close()
  for (const name of names) await callRpc(world.urls[name], 'evm_revert', [clean[name]])
})
afterAll(() => Promise.all([database?.drop(), world?.stop()]))

const clientOf = (name: ChainName) => chains.byId(world.registry.get(name).chainId)

const holder = () => ({ owner: wallet.address, limits: defaultLimits })

async function setAnswer(name: ChainName, to: string, answer: bigint): Promise<void> {
  const data = feed.encodeFunctionData('setAnswer', [answer])
  await sendFrom(clientOf(name), devnetOwner, { to, data })
}
const setPrice = (name: ChainName, answer: bigint) =>
  setAnswer(name, clientOf(name).chain.ethUsdFeed, answer)
const setUsdcPrice = (name: ChainName, answer: bigint) =>
  setAnswer(name, clientOf(name).chain.usdcUsdFeed ?? '', answer)
async function replaceFeed(name: ChainName, code: string): Promise<void> {
  await callRpc(world.urls[name], 'anvil_setCode', [clientOf(name).chain.ethUsdFeed, `0x${code}`])
  await callRpc(world.urls[name], 'evm_mine')
}

async function plan() {
  await world.index(database.db)
  const request = { action: 'lend', asset: 'USDC', amountUnits: usdc } as const
  const market = await readMarket({ db: database.db, chains }, wallet.address, request)
  // The third chain of the deployment does not respond here.
  return planWithReservations(database.db, wallet.id, {
    request,
    market: { ...market, silent: [] },
  })
}

describe('readEthPrice', () => {
  test.each([
    ['of 3,000 USD', 3_000n * E8, 3_000n * E8],
    ['of zero', 0n, undefined],
    ['below zero', -3_000n * E8, undefined],
    ['of a cent', E8 / 100n, undefined],
    ['of ten million USD', 10n ** 7n * E8, undefined],
  ])('a price %s', async (_, answer, expected) => {
    await setPrice(base, answer)
    expect(await readEthPrice(clientOf(base))).toBe(expected)
  })

  test.each([
    ['reverts', REVERTS.slice(2)],
    ['is two days old', STALE],
    ['is gone', ''],
  ])('a feed that %s has no price', async (_, code) => {
    await replaceFeed(base, code)
    expect(await readEthPrice(clientOf(base))).toBeUndefined()
  })

  test('a feed stays fresh while its chain advances with it', async () => {
    await passTime(world.urls[base], 3 * 86_400)
    expect(await readEthPrice(clientOf(base))).toBe(3_000n * E8)
  })
})

describe('readHoldings', () => {
  test('ETH without a price has no value, USDC has', async () => {
    await callRpc(world.urls[base], 'anvil_setBalance', [wallet.address, '0xde0b6b3a7640000'])
    await setPrice(base, 0n)
    expect(await readHoldings(clientOf(base), holder())).toMatchObject([
      { asset: 'USDC', priceE8: E8 },
      { asset: 'ETH', priceE8: undefined },
    ])
  })
})

describe('readHoldings, of USDC', () => {
  test.each([
    [99_500_000n, 99_500_000n],
    [101_000_000n, 101_000_000n],
    [98_999_999n, undefined],
    [101_000_001n, undefined],
    [0n, undefined],
    [-1n, undefined],
  ])('at a price of %d it is worth %s', async (answer, priceE8) => {
    await setUsdcPrice(base, answer)
    const [holding] = await readHoldings(clientOf(base), holder())
    expect(holding).toMatchObject({ asset: 'USDC', units: 20n * usdc })
    expect(holding?.priceE8).toBe(priceE8)
  })
})

describe('planWithReservations', () => {
  test.each([
    ['above the limit', 102_000_000n],
    ['below the limit', 95_000_000n],
  ])('plans with USDC %s, and compares no costs in USD', async (_, answer) => {
    const before = await plan()
    expect(before.alternatives?.some(({ netUsd }) => netUsd !== undefined)).toBe(true)
    await setUsdcPrice(arbitrum, answer)
    const { steps, estimatedGasUsd, warnings, alternatives } = await plan()
    expect(steps).toEqual(before.steps)
    expect(estimatedGasUsd).toBeGreaterThan(0)
    expect(warnings).toMatchObject([
      { code: 'COSTS_UNKNOWN', message: expect.stringContaining('USDC') },
    ])
    for (const one of alternatives ?? []) expect(one).not.toHaveProperty('netUsd')
  })

  test('uses the price of another chain while the own feed has none', async () => {
    await setPrice(base, 0n)
    const own = await plan()
    expect(own).toMatchObject({ targetChain: base, strategy: 'direct-deposit' })
    expect(own.estimatedGasUsd).toBeGreaterThan(0)
    await setPrice(arbitrum, 6_000n * E8)
    expect((await plan()).estimatedGasUsd).toBeCloseTo(2 * Number(own.estimatedGasUsd), 4)
  })

  test.each([
    ['prices of zero', (name: ChainName) => setPrice(name, 0n)],
    ['negative prices', (name: ChainName) => setPrice(name, -1n)],
    ['feeds that revert', (name: ChainName) => replaceFeed(name, REVERTS.slice(2))],
    ['no feeds', (name: ChainName) => replaceFeed(name, '')],
  ])('plans with %s, and reports the cost of gas as unknown', async (_, spoil) => {
    for (const name of names) await spoil(name)
    expect(await plan()).toMatchObject({
      ...{ targetChain: base, steps: [{ type: 'deposit', amount: '1' }], estimatedGasUsd: null },
      warnings: [{ code: 'COSTS_UNKNOWN' }],
    })
  })
})
