import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startApi, type TestApi } from '../../api.js'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'
import { defaultLimits, type PlanLimits } from '../../../../domain/limits.js'
import { assetText, usdUnits } from '../../../../domain/money.js'
import type { GasBudgets, Tier } from '../../../../domain/tiers.js'

const usdc = 1_000_000n
const chain = 'arbitrum-sepolia'

let world: ChainWorld
let api: TestApi | undefined
let key: string

beforeAll(async () => {
  world = await startChainWorld()
})
afterEach(async () => {
  await api?.stop()
  api = undefined
})
afterAll(() => world?.stop())

async function start(
  settings: { gasBudgets?: GasBudgets; smallest?: PlanLimits['smallest'] },
  tier: Tier = 'pro',
) {
  const { db, chains, untilStarted } = world
  const { smallest, ...others } = settings
  const limits = { ...defaultLimits, ...(smallest && { smallest }) }
  const parts = { ...chains, db, temporal: world.temporal.client, untilStarted }
  api = await startApi({ ...parts, ...others, limits })
  key = await world.newKey(tier)
}

let users = 0
async function newWallet(units: bigint): Promise<string> {
  const body = { userId: `gas ${(users += 1)}` }
  const created = await world.api.call('POST', '/v1/wallets', { key, body })
  const { id, address } = created.body as unknown as { id: string; address: string }
  await world.chains.mint(chain, address, units)
  await world.chains.index(world.database.db)
  return id
}

const call = async (path: string, body: object) => {
  if (!api) throw new Error('The API is not started.')
  return api.call('POST', path, { key, body })
}
const lend = (walletId: string, amount: unknown, query = '') =>
  call(`/v1/intents${query}`, { walletId, action: 'lend', amount, chain })

/** Gas of a lend in USD, as the planner estimates it. */
async function readCost(walletId: string): Promise<number> {
  const { body } = await lend(walletId, 1, '?dryRun=true')
  type Preview = { executionPlan: { estimatedGasUsd: number } }
  const { estimatedGasUsd } = (body as unknown as Preview).executionPlan
  expect(estimatedGasUsd).toBeGreaterThan(0)
  return estimatedGasUsd
}

/** Wallets of an account with a budget for this many lends. The fee of the chain falls with each block. */
async function startWithBudgetFor(intents: number, wallets: number) {
  await start({})
  const ids: string[] = []
  for (let i = 0; i < wallets; i++) ids.push(await newWallet(5n * usdc))
  const cost = await readCost(ids[0] ?? '')
  const limit = (intents + 0.5) * cost
  await api?.stop()
  const account = key
  await start({ gasBudgets: { free: 0.000_001, pro: limit, enterprise: undefined } })
  key = account
  return { cost, limit, ids }
}

const gasOf = async () => {
  const { rows } = await world.database.db.raw<{ rows: { usd: string }[] }>(
    'select usd from account_gas where account_id in (select account_id from intent order by id desc limit 1)',
  )
  return Number(rows[0]?.usd)
}

describe('POST /v1/intents with a gas budget', () => {
  test('error: RATE_LIMITED beyond the budget of the day, also for concurrent calls of many wallets', async () => {
    const { cost, limit, ids } = await startWithBudgetFor(3, 2)
    const calls = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => lend(ids[i % 2] ?? '', 1))
    const answers = await Promise.all(calls)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(5)
    for (const { body, headers } of refused) {
      expect(body).toMatchObject({
        error: 'RATE_LIMITED',
        details: { window: 'gas of a UTC day', limit, required: cost },
      })
      const { used, retryAfter } = body.details as { used: number; retryAfter: number }
      expect(used).toBeCloseTo(3 * cost, 5)
      expect(retryAfter).toBeGreaterThan(0)
      expect(retryAfter).toBeLessThanOrEqual(86_400)
      expect(headers.get('retry-after')).toBe(String(retryAfter))
    }
    const { db } = world.database
    expect(await db('intent').whereIn('wallet_id', ids)).toHaveLength(3)
    expect(await gasOf()).toBeCloseTo(3 * cost, 5)
    const paid = await call('/v1/wallets', { userId: 'not an intent' })
    expect(paid.status).toBe(201)
    // Another account has a budget of its own, and one plan has none.
    for (const tier of ['pro', 'enterprise'] as const) {
      key = await world.newKey(tier)
      expect((await lend(await newWallet(usdc), 1)).status).toBe(201)
    }
  })

  test('the budget of another plan does not suffice for one intent', async () => {
    await startWithBudgetFor(1, 1)
    key = await world.newKey('free')
    const { status, body } = await lend(await newWallet(usdc), 1)
    expect([status, body.error]).toEqual([429, 'RATE_LIMITED'])
    expect(body.details).toMatchObject({ used: 0 })
  })

  test('a cancelled intent gives its gas back, and yesterday does not count', async () => {
    const { cost, ids } = await startWithBudgetFor(1, 1)
    const [walletId = ''] = ids
    const first = await lend(walletId, 1)
    expect((await lend(walletId, 1)).status).toBe(429)
    expect((await call(`/v1/intents/${first.body.id}/cancel`, {})).status).toBe(200)
    expect(await gasOf()).toBe(0)
    expect((await lend(walletId, 1)).status).toBe(201)
    expect((await lend(walletId, 1)).status).toBe(429)
    await world.database.db.raw('update account_gas set day = day - 1')
    expect((await lend(walletId, 1)).status).toBe(201)
    expect(await gasOf()).toBeCloseTo(cost, 5)
  })
})

describe('POST /v1/intents with a smallest amount', () => {
  test('error: INVALID_REQUEST below the amount of the chain, and nothing is stored', async () => {
    await start({ smallest: { [chain]: 2n * usdc } })
    const walletId = await newWallet(5n * usdc)
    for (const query of ['', '?dryRun=true']) {
      const { status, body } = await lend(walletId, '1.999999', query)
      expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
      expect(body.message).toContain('The smallest amount of this intent is 2 USDC')
      expect(body.details).toMatchObject({ reason: 'below_minimum', smallest: '2' })
    }
    expect(await world.database.db('intent').where({ wallet_id: walletId })).toHaveLength(0)
    expect((await lend(walletId, 2)).status).toBe(201)
  })

  test('gas: dust is refused, and the cost of the gas is enough', async () => {
    await start({ smallest: { [chain]: 'gas' } })
    const walletId = await newWallet(5n * usdc)
    const least = usdUnits(await readCost(walletId))
    const { status, body } = await lend(walletId, assetText(least - 1n))
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details).toMatchObject({ smallest: assetText(least) })
    expect((await lend(walletId, assetText(least))).status).toBe(201)
  })
})
