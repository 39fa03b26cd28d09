import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dryRun } from '../../../../api/schemas/intents.js'
import { silentChains } from '../../../planning/chains.js'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'
import { startApi, withoutId } from '../../api.js'
import { withoutProgress } from './begun.js'

const usdc = 1_000_000n

let world: ChainWorld

beforeAll(async () => {
  world = await startChainWorld()
})
afterAll(() => world?.stop())

const balance = async () =>
  (await world.api.call('GET', '/dashboard/credits', { key: world.key })).body.balance
const count = async (table: string) => {
  const [row] = await world.database.db(table).count<{ count: bigint }[]>('* as count')
  return row?.count
}

describe('POST /v1/intents?dryRun=true', () => {
  test('200: the exact plan that the same call then executes', async () => {
    const { id: walletId } = await world.newWallet({ 'arbitrum-sepolia': 2n * usdc })
    const dry = await world.lend(walletId, 1.5, {}, '?dryRun=true')
    expect([dry.status, dry.headers.get('x-credits-charged')]).toEqual([200, '0'])
    expect(dryRun.parse(dry.body)).toEqual(dry.body)
    const real = await world.lend(walletId, 1.5, {}, '?dryRun=false')
    expect(real.status).toBe(201)
    const executionPlan = withoutProgress(real.body.executionPlan)
    expect(dry.body).toEqual({
      ...{ dryRun: true, walletId, action: 'lend', amount: 1.5, asset: 'USDC', executionPlan },
    })
  })

  test('stores, starts, reserves and charges nothing, with an Idempotency-Key neither', async () => {
    const { id: walletId } = await world.newWallet({ 'base-sepolia': usdc })
    const before = await balance()
    const rows = [await count('intent'), await count('reservation'), await count('idempotency_key')]
    const started = world.temporal.started.length
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await world.api.call('POST', '/v1/intents?dryRun=true', {
        key: world.key,
        headers: { 'idempotency-key': 'dry' },
        body: { walletId, action: 'lend', amount: 1 },
      })
      expect([status, headers.get('idempotent-replayed')]).toEqual([200, null])
      expect(headers.get('x-credits-remaining')).toBe(String(before))
    }
    expect(await balance()).toBe(before)
    expect(world.temporal.started).toHaveLength(started)
    expect([
      await count('intent'),
      await count('reservation'),
      await count('idempotency_key'),
    ]).toEqual(rows)
  })

  test('does not plan with money that another intent has reserved', async () => {
    const { id } = await world.newWallet({ 'arbitrum-sepolia': 3n * usdc })
    expect((await world.lend(id, 2)).status).toBe(201)
    const { status, body } = await world.lend(id, 2, {}, '?dryRun=true')
    expect([status, body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect(body.details).toMatchObject({ required: '2', available: '1' })
  })

  test('error: the same as those of the real call', async () => {
    const { id } = await world.newWallet()
    for (const [walletId, amount, more] of [
      [id, 1, {}],
      ['x', 1, {}],
      [id, -1, {}],
      [id, 1, { chain: 'solana' }],
      [id, 1, { action: 'withdraw', chain: 'base' }],
    ] as const) {
      const dry = await world.lend(walletId, amount, more, '?dryRun=true')
      const real = await world.lend(walletId, amount, more)
      expect(dry.status).toBe(real.status)
      expect(withoutId(dry)).toBe(withoutId(real))
    }
  })

  test('error: UNAVAILABLE when the chains do not respond', async () => {
    const { id: walletId } = await world.newWallet()
    const temporal = world.temporal.client
    const half = await startApi({ db: world.db, temporal, ...silentChains() })
    const body = { walletId, action: 'lend', amount: 1 }
    const { key } = world
    const answer = await half.call('POST', '/v1/intents?dryRun=true', { key, body })
    await half.stop()
    expect([answer.status, answer.body.error]).toEqual([503, 'UNAVAILABLE'])
    expect(answer.headers.get('retry-after')).toBe('1')
  })

  test.each(['?dryRun=yes', '?dryRun=', '?dryRun=true&dryRun=true', '?dry=true'])(
    'error: INVALID_REQUEST for %s',
    async (query) => {
      const { status } = await world.lend('x', 1, {}, query)
      expect(status).toBe(400)
    },
  )
})

describe('POST /v1/intents/:intentId/retry?dryRun=true', () => {
  const retry = (id: string, query = '') =>
    world.api.call('POST', `/v1/intents/${id}/retry${query}`, { key: world.key })

  test('200: the plan that the same call then executes, stored and charged only then', async () => {
    const { id: walletId } = await world.newWallet({ 'arbitrum-sepolia': 2n * usdc })
    const { id } = (await world.lend(walletId, 1.5)).body
    const ofIntent = { key: world.key, body: {} }
    expect((await world.api.call('POST', `/v1/intents/${id}/cancel`, ofIntent)).status).toBe(200)
    const [before, intents] = [await balance(), await count('intent')]
    const dry = await retry(id, '?dryRun=true')
    expect([dry.status, dry.headers.get('x-credits-charged')]).toEqual([200, '0'])
    expect(dryRun.parse(dry.body)).toEqual(dry.body)
    expect([await balance(), await count('intent')]).toEqual([before, intents])
    const real = await retry(id)
    expect([real.status, real.body.retryOf]).toEqual([201, id])
    expect(dry.body.executionPlan).toEqual(withoutProgress(real.body.executionPlan))
    // Once it is retried, there is nothing to plan: the answer is the retry.
    expect((await retry(id, '?dryRun=true')).body.id).toBe(real.body.id)
  })

  test('error: the same as those of the real call', async () => {
    const { id: walletId } = await world.newWallet({ 'arbitrum-sepolia': usdc })
    const { id } = (await world.lend(walletId, 1)).body
    const [dry, real] = [await retry(id, '?dryRun=true'), await retry(id)]
    expect([dry.status, dry.body.details?.reason]).toEqual([400, 'not_failed'])
    expect(withoutId(dry)).toEqual(withoutId(real))
  })
})
