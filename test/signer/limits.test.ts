import { forge } from '../relayer/world/scenes/forge.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBalance } from '../../evm/read.js'
import { devnetTerms } from '../../dev/devnet/chains.js'
import { defaultLimits } from '../../domain/limits.js'
import { readQuote } from '../../evm/swaps/uniswapV3.js'
import { insertCrossing, submitBurn } from '../relayer/bridge/crossing.js'
import { createWorld, usdcUnits, type World } from '../relayer/world/fixture.js'
import { lendIn, planWithdrawal, submitStep } from '../relayer/world/planned.js'
import { keepPrices, mintDollars, setPoolPrice } from '../relayer/world/pool.js'
import type { StoredIntent } from '../../db/intents/intents.js'
import type { StoredWallet } from '../../db/accounts/wallets.js'

async function expectRefused(world: World, operationId: string, rule: RegExp) {
  const before = (await world.transactions()).length
  await world.sign()
  const row = await world.row(operationId)
  expect(row).toMatchObject({ state: 'deferred', code: 'INTERNAL', payload: null, tx_id: null })
  expect(row?.message).toMatch(rule)
  expect(await world.transactions()).toHaveLength(before)
  await world.db('operation').where({ id: operationId }).update({ state: 'cancelled' })
}

describe('a market of another USD token', () => {
  let world: World
  let dollar: string
  let wallet: StoredWallet

  beforeAll(async () => {
    const terms = devnetTerms['ethereum-sepolia']
    world = await createWorld({ senderCount: 1, terms: { ...terms, extras: ['testDollar'] } })
    dollar = world.contracts.testDollar ?? ''
  })
  afterAll(() => world?.stop())

  const usdc = () => world.chain.usdc.address
  const dollarsOf = (owner: string) => readBalance(world.driver().client, { token: dollar, owner })
  const quote = () => {
    const [to] = world.chain.otherTokens
    if (!to) throw new Error('There is no other dollar.')
    const swap = { from: to, to: world.chain.usdc, unitsIn: usdcUnits }
    return readQuote(world.driver().client, swap)
  }

  /** A wallet with a position in the market's own USD token, and the same amount of that token. */
  async function lender(units = 3n * usdcUnits) {
    wallet = await world.createWallet(0n)
    await mintDollars(world, dollar, wallet.address, 2n * units)
    await world.mine()
    await world.index()
    const [market] = world.chain.markets
    if (!market) throw new Error('There is no market.')
    await lendIn(world, wallet, market, units)
    return wallet
  }

  /** An intent whose money is withdrawn and waits for its swap. */
  async function withdrawn() {
    await lender()
    const intent = await planWithdrawal(world, wallet, 'max')
    const { operationId } = await submitStep(world, intent)
    await world.round()
    const arrived = BigInt((await world.row(operationId))?.units ?? 0)
    const submitSwap = async () => (await submitStep(world, intent, 2)).operationId
    return { intent, withdrawalId: operationId, arrived, submitSwap }
  }

  test('a plan with a minimum of 0.10 for 1 is not signed', async () => {
    const { intent, submitSwap } = await withdrawn()
    await forge(world, intent.id, 2, { minimum: '0.3' })
    await expectRefused(world, await submitSwap(), /at least 99 % of its input/)
  })

  test('the output of the previous step is read from the chain, never from rows', async () => {
    const { withdrawalId, arrived, submitSwap } = await withdrawn()
    // The wallet has more, but may spend only what this intent has withdrawn.
    const units = (2n * arrived).toString()
    await world.db('operation').where({ id: withdrawalId }).update({ units })
    const id = await submitSwap()
    await world.round()
    expect(await world.row(id)).toMatchObject({ state: 'confirmed', success: true })
    expect(await dollarsOf(wallet.address)).toBe(3n * usdcUnits)
  })

  test('a transaction without the effect of the previous step has no output', async () => {
    const other = await withdrawn()
    const { withdrawalId, submitSwap } = await withdrawn()
    const { tx_hash } = (await world.row(other.withdrawalId)) ?? {}
    await world.db('operation').where({ id: withdrawalId }).update({ tx_hash })
    await expectRefused(world, await submitSwap(), /the previous step must have delivered/)
  })

  test('a transaction that is not on the chain has no output yet', async () => {
    const { withdrawalId, submitSwap } = await withdrawn()
    const tx_hash = `0x${'ab'.repeat(32)}`
    await world.db('operation').where({ id: withdrawalId }).update({ tx_hash })
    const id = await submitSwap()
    await world.sign()
    const waits = { state: 'deferred', code: 'RPC_ERROR', payload: null }
    expect(await world.row(id)).toMatchObject(waits)
  })

  test('a receipt is ignored when its block is not the canonical one', async () => {
    const { withdrawalId, submitSwap } = await withdrawn()
    const id = await submitSwap()
    const { tx_hash } = (await world.row(withdrawalId)) ?? {}
    const receipt = await world.rpc<object>('eth_getTransactionReceipt', [tx_hash])
    const orphaned = { ...receipt, blockHash: `0x${'cd'.repeat(32)}` }
    world.proxy.set(({ method }) => {
      return method === 'eth_getTransactionReceipt' ? { answer: orphaned } : undefined
    })
    await world.sign()
    world.proxy.set(undefined)
    const waits = { state: 'deferred', code: 'RPC_ERROR', payload: null }
    expect(await world.row(id)).toMatchObject(waits)
  })

  test('a full withdrawal is not signed for an intent that requested a part', async () => {
    await lender()
    const intent = await planWithdrawal(world, wallet, usdcUnits)
    await forge(world, intent.id, 1, { everything: true })
    const { operationId } = await submitStep(world, intent)
    await world.round()
    const planned = intent.plan?.steps[0]?.amount
    const row = await world.row(operationId)
    expect(row).toMatchObject({ state: 'confirmed', success: true })
    expect(Number(row?.units) / 1e6).toBe(Number(planned))
  })

  test('a pool at a price of 0.5: no swap is planned, and a forged plan is refused', async () => {
    const { intent, arrived, submitSwap } = await withdrawn()
    await setPoolPrice(world, [dollar, usdc()], 0.5)
    const half = Number((await quote())?.unitsOut) / 1e6
    expect(half).toBeGreaterThan(0.49)
    expect(half).toBeLessThan(0.51)

    await lender()
    const why = 'does not count: a swap would return only 0.'
    await expect(planWithdrawal(world, wallet, 'max')).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      message: expect.stringContaining(why),
    })

    await forge(world, intent.id, 2, { minimum: '0.3' })
    const id = await submitSwap()
    await expectRefused(world, id, /at least 99 % of its input/)
    expect(await dollarsOf((await addressOf(intent)) ?? '')).toBeGreaterThanOrEqual(arrived)

    // A signer without the limit would have signed it.
    await world.db('operation').where({ id }).update({ state: 'queued', leased_until: null })
    const limits = { ...defaultLimits, swapLossBps: 10_000n }
    await world.sign({ ...world.signer, limits })
    expect(await world.row(id)).toMatchObject({ state: 'signed' })
    await setPoolPrice(world, [usdc(), dollar], 1)
  })

  test('a pool at a price of 1.1: no swap is planned, and a planned one waits for parity', async () => {
    const { submitSwap } = await withdrawn()
    await setPoolPrice(world, [usdc(), dollar], 1 / 1.1)
    expect(Number((await quote())?.unitsOut) / 1e6).toBeGreaterThan(1.09)

    await lender()
    await expect(planWithdrawal(world, wallet, 'max')).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      message: expect.stringContaining('so USDC is worth less than a dollar'),
    })

    const id = await submitSwap()
    await world.sign()
    const row = await world.row(id)
    expect(row).toMatchObject({ state: 'deferred', code: 'SWAP_FAILED', payload: null })
    expect(row?.message).toContain('worth less than a dollar')

    await setPoolPrice(world, [dollar, usdc()], 1)
    await world.db('operation').where({ id }).update({ state: 'queued', leased_until: null })
    await world.sign()
    expect(await world.row(id)).toMatchObject({ state: 'signed' })
  })

  test('a swap waits while the price has just moved, even close to parity', async () => {
    const { intent, submitSwap } = await withdrawn()
    await keepPrices(world, [usdc(), dollar])
    const calm = await quote()
    expect(Number(calm?.averageUnitsOut) / 1e6).toBeCloseTo(1, 3)
    await setPoolPrice(world, [dollar, usdc()], 0.9935)
    const { unitsOut = 0n, averageUnitsOut = 0n } = (await quote()) ?? {}
    expect(unitsOut).toBeGreaterThan(990_000n)
    expect(averageUnitsOut).toBeGreaterThan(998_000n)
    const id = await submitSwap()
    await forge(world, intent.id, 2, { minimum: '2.972' })
    await world.sign()
    const row = await world.row(id)
    expect(row).toMatchObject({ state: 'deferred', code: 'SWAP_FAILED', payload: null })
    expect(row?.message).toContain('has moved in the last minutes')
  })

  const addressOf = async ({ walletId }: StoredIntent) =>
    (await world.db('wallet').where({ id: walletId }).first<StoredWallet>())?.address
})

describe('a market of USDC', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ senderCount: 1 })
  })
  afterAll(() => world?.stop())

  test('a bridge with a fee of half the amount is refused', async () => {
    const wallet = await world.createWallet(9n * usdcUnits)
    const crossing = await insertCrossing(world, wallet, usdcUnits, 'arbitrum-sepolia')
    await forge(world, crossing.intentId, 1, { maxFee: '0.5' })
    const { operationId } = await submitBurn(world, crossing)
    await expectRefused(world, operationId, /keep at most 0.2 % of the amount/)
  })

  test('error: a plan that spends more than the request is not signed', async () => {
    const lend = await world.lend(await world.createWallet(9n * usdcUnits), usdcUnits)
    await forge(world, lend.intentId, 1, { amount: '2' })
    await expectRefused(world, lend.operationId, /what the request of its intent names/)
  })

  test('error: a plan with another action than the request is not signed', async () => {
    const lend = await world.lend(await world.createWallet(9n * usdcUnits), usdcUnits)
    await world.db('intent').where({ id: lend.intentId }).update({ action: 'withdraw' })
    await expectRefused(world, lend.operationId, /what the request of its intent names/)
  })
})
