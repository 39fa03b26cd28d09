import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Interface } from 'ethers'
import { finalizeIntent } from '../../activities/status.js'
import { createBridgeWorld, dollar, type BridgeWorld, type Planned } from './bridgeFixture.js'
import { finalityBlocks, owner } from './fixture.js'
import { lendIn, marketOf } from './lending.js'
import type { Market } from '../../chains/registry.js'
import type { Wallet } from '../../db/wallets.js'
import type { IntentRequest } from '../../domain/intent.js'
import type { Site } from './site.js'

const hundred = 100n * dollar
/** Markets round against the lender, by a unit at each way. */
const rounding = 2n
const monthSeconds = 30 * 86_400

const comet = new Interface([
  'function pause(bool supply, bool transfer, bool withdraw, bool absorb, bool buy)',
])
const pool = new Interface([
  'function withdraw(address asset, uint256 amount, address to)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
])

let world: BridgeWorld
let wallet: Wallet
beforeAll(async () => {
  world = await createBridgeWorld(['ethereum-sepolia', 'base-sepolia'])
})
beforeEach(async () => {
  wallet = await world.createWallet()
})
afterAll(() => world?.stop())

const requestOf = (chain: string, amountUnits: bigint | 'max'): IntentRequest => ({
  ...{ action: 'withdraw', asset: 'USDC', chain, amountUnits },
})

async function pass(site: Site, seconds: number): Promise<void> {
  await site.rpc('evm_increaseTime', [seconds])
  await site.mine()
  await site.book()
}

const refusedWith = (code: string, details: object) =>
  expect.objectContaining({ code, details: expect.objectContaining(details) })

describe.each([
  ['base-sepolia', 'aave-v3'],
  ['base-sepolia', 'erc4626'],
  ['ethereum-sepolia', 'compound-v3'],
] as const)('out of %s %s', (chain, protocol) => {
  let site: Site
  let market: Market
  beforeEach(async () => {
    ;[site, market] = [world.at(chain), marketOf(world, chain, protocol)]
    await lendIn(world, wallet, chain, protocol, hundred)
  })
  const intend = (amountUnits: bigint | 'max') =>
    world.intend(wallet, requestOf(chain, amountUnits))
  const receipts = () => site.held(market.receiptToken, wallet.address)

  test('a part comes exactly, the rest stays', async () => {
    const intent = await intend(40n * dollar)
    expect(intent.plan.steps).toMatchObject([{ type: 'withdraw', protocol, amount: '40' }])
    const row = await world.perform(intent, 1, 'withdraw')
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '40000000' })
    const spent = { spent_block: row?.block_number, released_at: null }
    expect(await world.reservation(intent, 1)).toMatchObject(spent)
    expect(await site.usdcOf(wallet.address)).toBe(40n * dollar)
    expect(await receipts()).toBeGreaterThan(0n)

    const rest = await world.perform(await intend('max'), 1, 'withdraw')
    expect(BigInt(rest?.units ?? 0)).toBeGreaterThanOrEqual(60n * dollar - rounding)
    expect(await receipts()).toBe(0n)
  })

  test('everything leaves nothing behind, the interest since the plan included', async () => {
    await pass(site, monthSeconds)
    const intent = await intend('max')
    expect(intent.plan.steps).toMatchObject([{ type: 'withdraw', protocol, everything: true }])
    await pass(site, monthSeconds)
    const row = await world.perform(intent, 1, 'withdraw')
    expect(row).toMatchObject({ state: 'confirmed', success: true })
    expect(BigInt(row?.units ?? 0)).toBeGreaterThan(BigInt(intent.units))
    expect(BigInt(intent.units)).toBeGreaterThan(hundred)
    expect(await receipts()).toBe(0n)
    expect((await site.usdcOf(wallet.address)).toString()).toBe(row?.units)
  })

  test('the same money is never withdrawn twice', async () => {
    const first = await intend(60n * dollar)
    await expect(intend(60n * dollar)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    const second = await intend(30n * dollar)
    await expect(intend(11n * dollar)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    for (const intent of [first, second]) await world.submit(intent, 1, 'withdraw')
    await site.round()
    await expect(intend(11n * dollar)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    const third = await intend(9n * dollar)
    await world.perform(third, 1, 'withdraw')
    expect(await site.usdcOf(wallet.address)).toBe(99n * dollar)
  })

  test('everything and another step never run at once', async () => {
    const busy = refusedWith('INVALID_REQUEST', { reason: 'market_busy' })
    const part = await intend(10n * dollar)
    await expect(intend('max')).rejects.toEqual(busy)
    await world.perform(part, 1, 'withdraw')
    const all = await intend('max')
    await expect(intend(1n * dollar)).rejects.toMatchObject({ code: expect.any(String) })
    await expect(intend('max')).rejects.toEqual(busy)
    await world.perform(all, 1, 'withdraw')
    expect(await receipts()).toBe(0n)
    await expect(intend('max')).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
  })

  test('a reorg takes it back, and it comes again, once', async () => {
    const intent = await intend('max')
    await world.perform(intent, 1, 'withdraw')
    await site.reorg(1)
    expect(await world.reservation(intent, 1)).toMatchObject({ spent_block: null })
    await expect(intend(1n * dollar)).rejects.toMatchObject({ code: expect.any(String) })
    await pass(site, 60)
    await site.round()
    const row = await world.row(intent, 1, 'withdraw')
    expect(row).toMatchObject({ state: 'confirmed', success: true })
    expect((await site.usdcOf(wallet.address)).toString()).toBe(row?.units)
  })
})

describe('a withdrawal that fails', () => {
  /** What its activity tells, and the end of its intent. */
  async function expectFailed(intent: Planned): Promise<void> {
    const running = world.run(world.activities.withdraw, world.stepInput(intent))
    await expect(running).rejects.toMatchObject({ type: 'WITHDRAW_FAILED', nonRetryable: true })
    const failure = { code: 'WITHDRAW_FAILED', message: 'It failed.', step: 1 }
    await finalizeIntent(world.workerDb, { intentId: intent.id, failure })
  }
  const setPaused = async (site: Site, paused: boolean) => {
    const { address } = marketOf(world, 'ethereum-sepolia', 'compound-v3')
    const data = comet.encodeFunctionData('pause', [false, false, paused, false, false])
    await site.send(owner, { to: address, data })
    await site.mine()
  }

  test('on chain holds what it was to take until no reorg can turn it round', async () => {
    const site = world.at('ethereum-sepolia')
    await lendIn(world, wallet, 'ethereum-sepolia', 'compound-v3', hundred)
    const intent = await world.intend(wallet, requestOf('ethereum-sepolia', 60n * dollar))
    await world.submit(intent, 1, 'withdraw')
    await site.sign()
    await setPaused(site, true)
    await site.broadcast()
    await site.mine()
    await site.book()
    await setPaused(site, false)
    await site.book()
    const row = await world.row(intent, 1, 'withdraw')
    expect(row).toMatchObject({ state: 'confirmed', success: false, units: null })
    await expectFailed(intent)
    expect(await site.usdcOf(wallet.address)).toBe(0n)
    const held = { spent_block: null, released_at: null }
    expect(await world.reservation(intent, 1)).toMatchObject(held)
    const again = requestOf('ethereum-sepolia', 60n * dollar)
    await expect(world.intend(wallet, again)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })

    await site.mine(finalityBlocks)
    await site.book()
    const free = { spent_block: null, released_at: expect.any(Date) }
    expect(await world.reservation(intent, 1)).toMatchObject(free)
    await world.perform(await world.intend(wallet, again), 1, 'withdraw')
    expect(await site.usdcOf(wallet.address)).toBe(60n * dollar)
  })

  test('for want of liquidity is not planned, and refused twice when it was', async () => {
    const site = world.at('base-sepolia')
    const { address, underlying, receiptToken } = marketOf(world, 'base-sepolia', 'aave-v3')
    await lendIn(world, wallet, 'base-sepolia', 'aave-v3', hundred)
    const intent = await world.intend(wallet, requestOf('base-sepolia', 60n * dollar))
    const lentOut = await site.held(underlying, receiptToken)
    const drain = pool.encodeFunctionData('withdraw', [underlying, lentOut, owner])
    await site.send(owner, { to: address, data: drain })
    await site.mine()
    await site.book()
    const request = requestOf('base-sepolia', 'max')
    await expect(world.intend(wallet, request)).rejects.toMatchObject({ code: expect.any(String) })

    await world.perform(intent, 1, 'withdraw')
    const deferred = { state: 'deferred', code: 'WITHDRAW_FAILED', payload: null }
    expect(await world.row(intent, 1, 'withdraw')).toMatchObject(deferred)
    await world.perform(intent, 1, 'withdraw')
    const rejected = { state: 'rejected', code: 'WITHDRAW_FAILED', payload: null }
    expect(await world.row(intent, 1, 'withdraw')).toMatchObject(rejected)
    await expectFailed(intent)
    const free = { spent_block: null, released_at: expect.any(Date) }
    expect(await world.reservation(intent, 1)).toMatchObject(free)

    const refill = pool.encodeFunctionData('supply', [underlying, lentOut, owner, 0])
    await site.send(owner, { to: address, data: refill })
    await site.mine()
    await site.book()
    await world.perform(await world.intend(wallet, request), 1, 'withdraw')
    expect(await site.held(receiptToken, wallet.address)).toBe(0n)
  })
})
