import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromUnits } from '../../domain/money.js'
import { readReservationsOfToken } from './holdings.js'
import { expectConserved, expectTransactions } from './money.js'
import { joinWorld, toTold, type Told, type Wallet, type World } from './world.js'

const [ethereum, arbitrum, base] = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'] as const

let world: World

beforeAll(async () => {
  world = await joinWorld()
}, 600_000)
afterAll(() => world?.stop())

const lend = (amount: number | string, more: object = {}) => ({ action: 'lend', amount, ...more })
const simulate = (fault: string) => ({ metadata: { simulate: fault } })
const usdcOn = async (chain: typeof ethereum | typeof arbitrum | typeof base, wallet: Wallet) =>
  (await readReservationsOfToken(world.nodes[chain], wallet)).usdc

/** Runs an intent that fails, and checks what must hold however it does. */
async function fail(wallet: Wallet, body: object, order: string[] = []): Promise<Told> {
  const { id } = await world.create(wallet, body)
  const told = await world.untilOver(id)
  expect(told.status).toBe('failed')
  await expectTransactions(world, told, order)
  await expectConserved(world, wallet)
  return told
}

const retry = (id: string) => world.call('POST', `/intents/${id}/retry`)

/** The retry of a failed intent, when it is over. */
async function retried({ id }: Told): Promise<Told> {
  const answer = await retry(id)
  expect(answer).toMatchObject({ status: 201, body: { retryOf: id } })
  const told = await world.untilOver(toTold(answer).id)
  expect(told.status).toBe('completed')
  return told
}

const refusedFor = (reason: string) => ({
  status: 400,
  body: { error: 'INVALID_REQUEST', details: { reason } },
})

describe('metadata.simulate', () => {
  test('BRIDGE_FAILED: the money is at the source, and a retry sends it over', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const told = await fail(wallet, { ...lend(1), ...simulate('BRIDGE_FAILED') })
    expect(told).toMatchObject({
      metadata: { simulate: 'BRIDGE_FAILED' },
      results: { completedSteps: 0, totalGasUsed: '0' },
      error: {
        ...{ code: 'BRIDGE_FAILED', step: 1 },
        funds: [{ chain: arbitrum, asset: 'USDC', amount: '1' }],
      },
    })
    expect(await usdcOn(arbitrum, wallet)).toBe(1_000_000n)
    const again = await retried(told)
    expect(again).not.toHaveProperty('metadata')
    expect(again.executionPlan.strategy).toBe('single-bridge')
    expect(again.results.finalAmount).toBe('0.9999')
    expect(await usdcOn(arbitrum, wallet)).toBe(0n)
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('DEPOSIT_FAILED: the money is at the destination, and a retry only deposits it', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const order = [`bridge ${arbitrum}`, `mint ${base}`]
    const told = await fail(wallet, { ...lend(1), ...simulate('DEPOSIT_FAILED') }, order)
    expect(told).toMatchObject({
      results: { completedSteps: 1 },
      error: {
        ...{ code: 'DEPOSIT_FAILED', step: 2 },
        funds: [{ chain: base, asset: 'USDC', amount: '0.9999' }],
      },
    })
    expect(await usdcOn(base, wallet)).toBe(999_900n)

    // Baselines, and one that comes later: one retry.
    const baselines = await Promise.all([retry(told.id), retry(told.id), retry(told.id)])
    expect(baselines.map(({ status }) => status).sort()).toEqual([200, 200, 201])
    const later = await retry(told.id)
    expect(later.status).toBe(200)
    expect(new Set([...baselines, later].map((answer) => toTold(answer).id)).size).toBe(1)
    const again = await world.untilOver(toTold(later).id)
    expect(again).toMatchObject({
      ...{ status: 'completed', retryOf: told.id, results: { finalAmount: '0.9999' } },
      executionPlan: { strategy: 'direct-deposit', targetChain: base },
    })
    await expectTransactions(world, again, [`deposit ${base}`])
    expect(await usdcOn(base, wallet)).toBe(0n)
    expect(await expectConserved(world, wallet)).toBe(0n)
    expect(await retry(again.id)).toMatchObject(refusedFor('not_failed'))
  })

  test('SWAP_FAILED: the money is not swapped, and a retry swaps it', async () => {
    const wallet = await world.createWallet({ [ethereum]: '2' })
    const wish = { ...lend(2, { chain: ethereum }), ...simulate('SWAP_FAILED') }
    const told = await fail(wallet, wish)
    expect(told.error).toMatchObject({
      ...{ code: 'SWAP_FAILED', step: 1 },
      funds: [{ chain: ethereum, asset: 'USDC', amount: '2' }],
    })
    expect(await usdcOn(ethereum, wallet)).toBe(2_000_000n)
    const again = await retried(told)
    await expectTransactions(world, again, [`swap ${ethereum}`, `deposit ${ethereum}`])
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('DEPOSIT_FAILED after a swap: the other dollar is in the wallet, and a retry deposits it', async () => {
    const wallet = await world.createWallet({ [ethereum]: '2' })
    const wish = { ...lend(2, { chain: ethereum }), ...simulate('DEPOSIT_FAILED') }
    const told = await fail(wallet, wish, [`swap ${ethereum}`])
    expect(told.error).toMatchObject({ code: 'DEPOSIT_FAILED', step: 2 })
    expect(told.error?.funds).toEqual([
      { chain: ethereum, asset: 'TUSD', amount: expect.stringMatching(/^1\.999[78]/) },
    ])
    const again = await retried(told)
    await expectTransactions(world, again, [`deposit ${ethereum}`])
    expect((await readReservationsOfToken(world.nodes[ethereum], wallet)).testDollar).toBe(0n)
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('WITHDRAW_FAILED: the money is still in the market, and a retry takes it out', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '2' })
    const { id } = await world.create(wallet, lend(2, { chain: arbitrum }))
    await world.untilOver(id)
    const wish = { action: 'withdraw', amount: 'max', chain: arbitrum }
    const told = await fail(wallet, { ...wish, ...simulate('WITHDRAW_FAILED') })
    expect(told.error).toMatchObject({
      ...{ code: 'WITHDRAW_FAILED', step: 1 },
      funds: [{ chain: arbitrum, asset: 'USDC', protocol: 'aave-v3' }],
    })
    expect(await usdcOn(arbitrum, wallet)).toBe(0n)
    const again = await retried(told)
    await expectTransactions(world, again, [`withdraw ${arbitrum}`])
    expect((await readReservationsOfToken(world.nodes[arbitrum], wallet)).aave).toBe(0n)
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('SWAP_FAILED of a withdrawal: the other dollar is in the wallet, and a retry swaps it', async () => {
    const wallet = await world.createWallet({ [ethereum]: '2' })
    const { id } = await world.create(wallet, lend(2, { chain: ethereum }))
    await world.untilOver(id)
    const wish = { action: 'withdraw', amount: 'max', chain: ethereum }
    const order = [`withdraw ${ethereum}`]
    const told = await fail(wallet, { ...wish, ...simulate('SWAP_FAILED') }, order)
    const { testDollar } = await readReservationsOfToken(world.nodes[ethereum], wallet)
    expect(told.error).toMatchObject({
      ...{ code: 'SWAP_FAILED', step: 2 },
      funds: [{ chain: ethereum, asset: 'TUSD', amount: fromUnits(testDollar, 6) }],
    })
    const again = await retried(told)
    await expectTransactions(world, again, [`swap ${ethereum}`])
    const { usdc, ...rest } = await readReservationsOfToken(world.nodes[ethereum], wallet)
    expect(rest).toMatchObject({ testDollar: 0n, aave: 0n })
    expect(again.results.finalAmount).toBe(fromUnits(usdc, 6))
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test.each(['NETWORK_ERROR', 'RPC_ERROR'])(
    '%s: nothing was sent, and a retry does it all',
    async (code) => {
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      const told = await fail(wallet, { ...lend(1, { chain: arbitrum }), ...simulate(code) })
      const funds = [{ chain: arbitrum, asset: 'USDC', amount: '1' }]
      expect(told.error).toMatchObject({ code, step: 1, funds })
      await expectTransactions(world, await retried(told), [`deposit ${arbitrum}`])
      expect(await expectConserved(world, wallet)).toBe(0n)
    },
  )

  test('INSUFFICIENT_FUNDS: found after the intent was taken, and a retry does it all', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const wish = { ...lend(1, { chain: arbitrum }), ...simulate('INSUFFICIENT_FUNDS') }
    const created = await world.create(wallet, wish)
    expect(created.status).toBe('pending')
    const told = await world.untilOver(created.id)
    expect(told).toMatchObject({ status: 'failed', error: { code: 'INSUFFICIENT_FUNDS' } })
    await expectTransactions(world, await retried(told), [`deposit ${arbitrum}`])
  })

  test('error: a failure that the plan cannot have, or nobody knows, also in a dry run', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    for (const query of ['', '?dryRun=true']) {
      for (const fault of ['SWAP_FAILED', 'EVERYTHING_FAILED']) {
        const body = { walletId: wallet.id, ...lend(1, { chain: arbitrum }), ...simulate(fault) }
        expect(await world.call('POST', `/intents${query}`, body)).toMatchObject({
          status: 400,
          body: { details: { issues: [{ path: 'metadata.simulate' }] } },
        })
      }
    }
    expect(await world.db('intent').where({ wallet_id: wallet.id })).toEqual([])
  })
})
