import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { encodeSwap } from '../../protocols/uniswapV3.js'
import { createBridgeWorld, dollar, type BridgeWorld, type Planned } from './bridgeFixture.js'
import { finalityBlocks, owner } from './fixture.js'
import { lendIn, marketOf } from './lending.js'
import type { Token } from '../../chains/registry.js'
import type { Wallet } from '../../db/wallets.js'
import type { Site } from './site.js'

const name = 'ethereum-sepolia'
const hundred = 100n * dollar
const tier = 100
/** Nearly all of one side of the pool. */
const flood = 900_000n * dollar

let world: BridgeWorld
let site: Site
let wallet: Wallet
let usdc: Token
let testDollar: Token
beforeAll(async () => {
  world = await createBridgeWorld([name])
  site = world.at(name)
  usdc = site.chain.usdc
  testDollar = site.chain.otherTokens[0] as Token
})
beforeEach(async () => {
  wallet = await world.createWallet({ [name]: hundred })
})
afterAll(() => world?.stop())

/** Lends in the market whose token is not USDC. */
const lend = () =>
  world.intend(wallet, { action: 'lend', asset: 'USDC', amountUnits: hundred, chain: name })
const receipts = () => site.held(marketOf(world, name, 'aave-v3').receiptToken, wallet.address)

/** A stranger trades so much that the price is another one; what he got. */
async function trade(from: Token, to: Token, unitsIn: bigint): Promise<bigint> {
  const router = site.chain.uniswap?.router ?? ''
  await site.give(owner, unitsIn, from.address)
  const before = await site.held(to.address, owner)
  const bounds = { fee: tier, minimumUnits: 1n }
  for (const call of encodeSwap(router, owner, { from, to, unitsIn }, bounds)) {
    await site.send(owner, call)
    await site.mine()
  }
  await site.book()
  return (await site.held(to.address, owner)) - before
}

async function expectLent(intent: Planned): Promise<void> {
  const swap = await world.row(intent, 1, 'swap')
  expect(swap).toMatchObject({ state: 'confirmed', success: true })
  const fed = { from_block: swap?.block_number, units: swap?.units }
  expect(await world.reservation(intent, 2)).toMatchObject(fed)
  const deposit = await world.perform(intent, 2, 'deposit')
  expect(deposit).toMatchObject({ state: 'confirmed', success: true, units: swap?.units })
  expect(await site.held(testDollar.address, wallet.address)).toBe(0n)
  expect(await site.usdcOf(wallet.address)).toBe(0n)
  const lost = BigInt(swap?.units ?? 0) - (await receipts())
  expect(lost).toBeLessThanOrEqual(1n)
}

describe('a swap', () => {
  test('brings at least its minimum, and exactly that is lent', async () => {
    const intent = await lend()
    expect(intent.plan.steps).toMatchObject([
      { type: 'swap', asset: 'USDC', toAsset: 'TUSD', amount: '100' },
      { type: 'deposit', asset: 'TUSD' },
    ])
    const minimum = intent.plan.steps[0]?.type === 'swap' ? intent.plan.steps[0].minimum : '-1'
    const row = await world.perform(intent, 1, 'swap')
    expect(Number(row?.units) / 1e6).toBeGreaterThanOrEqual(Number(minimum))
    expect((await site.held(testDollar.address, wallet.address)).toString()).toBe(row?.units)
    await expectLent(intent)
  })

  test('waits while the price is beyond its bound, and is done when it is back', async () => {
    const intent = await lend()
    const bought = await trade(usdc, testDollar, flood)
    for (let attempt = 0; attempt < 3; attempt++) {
      const row = await world.perform(intent, 1, 'swap')
      expect(row).toMatchObject({ state: 'deferred', code: 'SWAP_FAILED', payload: null })
    }
    await trade(testDollar, usdc, bought)
    await world.perform(intent, 1, 'swap')
    await expectLent(intent)
  })

  test('that meets another price on chain has failed, and its money stays', async () => {
    const intent = await lend()
    await world.submit(intent, 1, 'swap')
    await site.sign()
    const bought = await trade(usdc, testDollar, flood)
    await site.broadcast()
    await site.mine()
    await site.book()
    const row = await world.row(intent, 1, 'swap')
    expect(row).toMatchObject({ state: 'confirmed', success: false, units: null })
    const running = world.run(world.activities.swap, world.stepInput(intent))
    await expect(running).rejects.toMatchObject({ type: 'SWAP_FAILED', nonRetryable: true })
    expect(await site.usdcOf(wallet.address)).toBe(hundred)
    await trade(testDollar, usdc, bought)
    await site.mine(finalityBlocks)
    await site.book()
    const free = { spent_block: null, released_at: expect.any(Date) }
    expect(await world.reservation(intent, 1)).toMatchObject(free)
  })

  test('that a reorg takes back comes again with what its deposit spends', async () => {
    const intent = await lend()
    await world.perform(intent, 1, 'swap')
    await site.reorg(1)
    expect(await world.row(intent, 1, 'swap')).toMatchObject({ state: 'signed' })
    expect(await world.reservation(intent, 2)).toMatchObject({ from_block: null })
    await site.round()
    await expectLent(intent)
  })

  test('after a withdrawal swaps what that brought', async () => {
    await lendIn(world, wallet, name, 'aave-v3', hundred)
    const request = { action: 'withdraw', asset: 'USDC', chain: name, amountUnits: 'max' } as const
    const intent = await world.intend(wallet, request)
    expect(intent.plan.steps.map(({ type }) => type)).toEqual(['withdraw', 'swap'])
    await site.rpc('evm_increaseTime', [30 * 86_400])
    await site.mine()
    await site.book()
    const taken = await world.perform(intent, 1, 'withdraw')
    expect(BigInt(taken?.units ?? 0)).toBeGreaterThan(hundred)
    const fed = { units: taken?.units, from_block: taken?.block_number }
    expect(await world.reservation(intent, 2)).toMatchObject(fed)
    const swap = await world.perform(intent, 2, 'swap')
    expect(swap).toMatchObject({ state: 'confirmed', success: true })
    expect(await receipts()).toBe(0n)
    expect(await site.held(testDollar.address, wallet.address)).toBe(0n)
    expect(await site.usdcOf(wallet.address)).toBe(hundred + BigInt(swap?.units ?? 0))
  })
})
