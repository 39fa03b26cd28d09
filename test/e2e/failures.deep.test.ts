import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromUnits } from '../../domain/money.js'
import { readWalletBalances } from './balances.js'
import { expectConserved, expectTransactions } from './money.js'
import { joinWorld, toIntent, type IntentResponse, type Wallet, type E2eWorld } from './world.js'

const [ethereum, arbitrum, base] = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'] as const

let world: E2eWorld

beforeAll(async () => {
  world = await joinWorld()
}, 600_000)
afterAll(() => world?.stop())

const lend = (amount: number | string, more: object = {}) => ({ action: 'lend', amount, ...more })
const simulate = (fault: string) => ({ metadata: { simulate: fault } })
const usdcOn = async (chain: typeof ethereum | typeof arbitrum | typeof base, wallet: Wallet) =>
  (await readWalletBalances(world.nodes[chain], wallet)).usdc

/** Runs an intent that fails and checks the invariants of every failure. */
async function fail(wallet: Wallet, body: object, order: string[] = []): Promise<IntentResponse> {
  const { id } = await world.create(wallet, body)
  const finished = await world.untilFinished(id)
  expect(finished.status).toBe('failed')
  await expectTransactions(world, finished, order)
  await expectConserved(world, wallet)
  return finished
}

const retry = (id: string) => world.call('POST', `/intents/${id}/retry`)

/** The finished retry of a failed intent. */
async function retried({ id }: IntentResponse): Promise<IntentResponse> {
  const answer = await retry(id)
  expect(answer).toMatchObject({ status: 201, body: { retryOf: id } })
  const finished = await world.untilFinished(toIntent(answer).id)
  expect(finished.status).toBe('completed')
  return finished
}

const refusedFor = (reason: string) => ({
  status: 400,
  body: { error: 'INVALID_REQUEST', details: { reason } },
})

describe('metadata.simulate', () => {
  test('BRIDGE_FAILED: the money is at the source, and a retry bridges it', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const finished = await fail(wallet, { ...lend(1), ...simulate('BRIDGE_FAILED') })
    expect(finished).toMatchObject({
      metadata: { simulate: 'BRIDGE_FAILED' },
      results: { completedSteps: 0, totalGasUsed: '0' },
      error: {
        ...{ code: 'BRIDGE_FAILED', step: 1 },
        funds: [{ chain: arbitrum, asset: 'USDC', amount: '1' }],
      },
    })
    expect(await usdcOn(arbitrum, wallet)).toBe(1_000_000n)
    const again = await retried(finished)
    expect(again).not.toHaveProperty('metadata')
    expect(again.executionPlan.strategy).toBe('single-bridge')
    expect(again.results.finalAmount).toBe('0.9999')
    expect(await usdcOn(arbitrum, wallet)).toBe(0n)
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('DEPOSIT_FAILED: the money is at the destination, and a retry only deposits it', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const order = [`bridge ${arbitrum}`, `mint ${base}`]
    const finished = await fail(wallet, { ...lend(1), ...simulate('DEPOSIT_FAILED') }, order)
    expect(finished).toMatchObject({
      results: { completedSteps: 1 },
      error: {
        ...{ code: 'DEPOSIT_FAILED', step: 2 },
        funds: [{ chain: base, asset: 'USDC', amount: '0.9999' }],
      },
    })
    expect(await usdcOn(base, wallet)).toBe(999_900n)

    // Concurrent retries and a later one create one retry.
    const baselines = await Promise.all([
      retry(finished.id),
      retry(finished.id),
      retry(finished.id),
    ])
    expect(baselines.map(({ status }) => status).sort()).toEqual([200, 200, 201])
    const later = await retry(finished.id)
    expect(later.status).toBe(200)
    expect(new Set([...baselines, later].map((answer) => toIntent(answer).id)).size).toBe(1)
    const again = await world.untilFinished(toIntent(later).id)
    expect(again).toMatchObject({
      ...{ status: 'completed', retryOf: finished.id, results: { finalAmount: '0.9999' } },
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
    const finished = await fail(wallet, wish)
    expect(finished.error).toMatchObject({
      ...{ code: 'SWAP_FAILED', step: 1 },
      funds: [{ chain: ethereum, asset: 'USDC', amount: '2' }],
    })
    expect(await usdcOn(ethereum, wallet)).toBe(2_000_000n)
    const again = await retried(finished)
    await expectTransactions(world, again, [`swap ${ethereum}`, `deposit ${ethereum}`])
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('DEPOSIT_FAILED after a swap: the other dollar is in the wallet, and a retry deposits it', async () => {
    const wallet = await world.createWallet({ [ethereum]: '2' })
    const wish = { ...lend(2, { chain: ethereum }), ...simulate('DEPOSIT_FAILED') }
    const finished = await fail(wallet, wish, [`swap ${ethereum}`])
    expect(finished.error).toMatchObject({ code: 'DEPOSIT_FAILED', step: 2 })
    expect(finished.error?.funds).toEqual([
      { chain: ethereum, asset: 'TUSD', amount: expect.stringMatching(/^1\.999[78]/) },
    ])
    const again = await retried(finished)
    await expectTransactions(world, again, [`deposit ${ethereum}`])
    expect((await readWalletBalances(world.nodes[ethereum], wallet)).testDollar).toBe(0n)
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('WITHDRAW_FAILED: the money is still in the market, and a retry withdraws it', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '2' })
    const { id } = await world.create(wallet, lend(2, { chain: arbitrum }))
    await world.untilFinished(id)
    const wish = { action: 'withdraw', amount: 'max', chain: arbitrum }
    const finished = await fail(wallet, { ...wish, ...simulate('WITHDRAW_FAILED') })
    expect(finished.error).toMatchObject({
      ...{ code: 'WITHDRAW_FAILED', step: 1 },
      funds: [{ chain: arbitrum, asset: 'USDC', protocol: 'aave-v3' }],
    })
    expect(await usdcOn(arbitrum, wallet)).toBe(0n)
    const again = await retried(finished)
    await expectTransactions(world, again, [`withdraw ${arbitrum}`])
    expect((await readWalletBalances(world.nodes[arbitrum], wallet)).aave).toBe(0n)
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test('SWAP_FAILED of a withdrawal: the other dollar is in the wallet, and a retry swaps it', async () => {
    const wallet = await world.createWallet({ [ethereum]: '2' })
    const { id } = await world.create(wallet, lend(2, { chain: ethereum }))
    await world.untilFinished(id)
    const wish = { action: 'withdraw', amount: 'max', chain: ethereum }
    const order = [`withdraw ${ethereum}`]
    const finished = await fail(wallet, { ...wish, ...simulate('SWAP_FAILED') }, order)
    const { testDollar } = await readWalletBalances(world.nodes[ethereum], wallet)
    expect(finished.error).toMatchObject({
      ...{ code: 'SWAP_FAILED', step: 2 },
      funds: [{ chain: ethereum, asset: 'TUSD', amount: fromUnits(testDollar, 6) }],
    })
    const again = await retried(finished)
    await expectTransactions(world, again, [`swap ${ethereum}`])
    const { usdc, ...rest } = await readWalletBalances(world.nodes[ethereum], wallet)
    expect(rest).toMatchObject({ testDollar: 0n, aave: 0n })
    expect(again.results.finalAmount).toBe(fromUnits(usdc, 6))
    expect(await expectConserved(world, wallet)).toBe(0n)
  })

  test.each(['NETWORK_ERROR', 'RPC_ERROR'])(
    '%s: nothing was sent, and a retry does it all',
    async (code) => {
      const wallet = await world.createWallet({ [arbitrum]: '1' })
      const finished = await fail(wallet, { ...lend(1, { chain: arbitrum }), ...simulate(code) })
      const funds = [{ chain: arbitrum, asset: 'USDC', amount: '1' }]
      expect(finished.error).toMatchObject({ code, step: 1, funds })
      await expectTransactions(world, await retried(finished), [`deposit ${arbitrum}`])
      expect(await expectConserved(world, wallet)).toBe(0n)
    },
  )

  test('INSUFFICIENT_FUNDS: detected after the intent was accepted, and a retry executes all steps', async () => {
    const wallet = await world.createWallet({ [arbitrum]: '1' })
    const wish = { ...lend(1, { chain: arbitrum }), ...simulate('INSUFFICIENT_FUNDS') }
    const created = await world.create(wallet, wish)
    expect(created.status).toBe('pending')
    const finished = await world.untilFinished(created.id)
    expect(finished).toMatchObject({ status: 'failed', error: { code: 'INSUFFICIENT_FUNDS' } })
    await expectTransactions(world, await retried(finished), [`deposit ${arbitrum}`])
  })

  test('error: a simulated failure that is unknown or impossible for the plan, also in a dry run', async () => {
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
