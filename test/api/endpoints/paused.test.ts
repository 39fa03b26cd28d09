import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { resumeWork, pauseWork, type PauseTarget } from '../../../db/pauses.js'
import { startChainWorld, type ChainWorld } from '../chainWorld.js'
import type { ApiResponse } from '../api.js'
import type { ChainName } from '../../../evm/registry.js'

const order = { by: 'alice', why: 'a market behaves oddly' }
const usdc = 1_000_000n
const everything = { scope: 'deployment', subject: '' } as const

let world: ChainWorld
let paused: PauseTarget[] = []

beforeAll(async () => {
  world = await startChainWorld()
})
afterAll(() => world?.stop())

async function pause(target: PauseTarget): Promise<void> {
  await pauseWork(world.database.db, target, order)
  paused.push(target)
}
const pauseChain = (name: ChainName) =>
  pause({ scope: 'chain', subject: String(world.chains.registry.get(name).chainId) })

async function resume(): Promise<void> {
  for (const target of paused) await resumeWork(world.database.db, target, order)
  paused = []
}
afterEach(resume)

const post = (path: string, body: object) => world.api.call('POST', path, { key: world.key, body })
const creditsOf = async () =>
  (await world.api.call('GET', '/v1/credits', { key: world.key })).body.balance
const intentsOf = (walletId: string) =>
  world.database.db('intent').where({ wallet_id: walletId }).select<object[]>('status', 'plan')

/** What a caller can do about it, in the words of a pause, and not a word of the operator's. */
function expectRefused({ status, body, text }: ApiResponse, scope: 'chain' | 'deployment'): void {
  expect([status, body.error]).toEqual([503, 'UNAVAILABLE'])
  expect(body.details).toMatchObject({ reason: 'capability_disabled' })
  expect(body.message).toMatch(
    new RegExp(`now: the ${scope} is paused by an operator since \\d{4}-\\S+Z\\.$`),
  )
  expect(text).not.toContain(order.why)
  expect(text).not.toContain(order.by)
}

describe('a paused chain', () => {
  test('is no target while another market fits, and the plan gives the reason', async () => {
    const { id } = await world.newWallet({ 'arbitrum-sepolia': 2n * usdc })
    const before = await world.lend(id, 1, {}, '?dryRun=true')
    expect(before.body.executionPlan).toMatchObject({ targetChain: 'base-sepolia' })
    await pauseChain('base-sepolia')
    const { status, body } = await world.lend(id, 1)
    expect([status, body.status]).toEqual([201, 'planning'])
    const plan = body.executionPlan as { targetChain: string; reasoning: string }
    expect(plan.targetChain).not.toBe('base-sepolia')
    expect(plan.reasoning).toMatch(
      /base-sepolia is not offered: the chain is paused by an operator/,
    )
    expect(JSON.stringify(plan)).not.toContain(order.why)
  })

  test('error: UNAVAILABLE for requests that name it, free of charge, and nothing is stored', async () => {
    const both = { 'arbitrum-sepolia': 2n * usdc, 'base-sepolia': 2n * usdc }
    const { id: walletId } = await world.newWallet(both)
    await pauseChain('base-sepolia')
    const left = await creditsOf()
    const [from, to] = ['arbitrum-sepolia', 'base-sepolia']
    for (const body of [
      { action: 'lend', chain: to },
      { action: 'withdraw', chain: to },
      { action: 'bridge', fromChain: from, toChain: to },
      { action: 'bridge', fromChain: to, toChain: from },
    ]) {
      const asked = { walletId, amount: 1, ...body }
      expectRefused(await post('/v1/intents', asked), 'chain')
      expectRefused(await post('/v1/intents?dryRun=true', asked), 'chain')
    }
    expect(await intentsOf(walletId)).toEqual([])
    expect(await creditsOf()).toBe(left)
  })

  test('error: UNAVAILABLE, and not INSUFFICIENT_FUNDS, when the money is there only', async () => {
    const { id } = await world.newWallet({ 'arbitrum-sepolia': 2n * usdc })
    await pauseChain('arbitrum-sepolia')
    expectRefused(await world.lend(id, 1), 'chain')
    expectRefused(await world.lend(id, 1, { chain: 'base-sepolia' }), 'chain')
    expect(await intentsOf(id)).toEqual([])
    await resume()
    expect((await world.lend(id, 1)).status).toBe(201)
  })

  test('is skipped when other chains hold the money, and its balance is named when all is too little', async () => {
    const both = { 'arbitrum-sepolia': 2n * usdc, 'base-sepolia': usdc }
    const { id } = await world.newWallet(both)
    await pauseChain('arbitrum-sepolia')
    const lent = await world.lend(id, 1)
    expect(lent.body.executionPlan).toMatchObject({
      targetChain: 'base-sepolia',
      steps: [{ type: 'deposit' }],
    })
    const { status, body } = await world.lend(id, 3)
    expect([status, body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect((body.details as { funds: object[] }).funds).toContainEqual({
      ...{ chain: 'arbitrum-sepolia', asset: 'USDC', amount: '2' },
    })
  })

  test('error: UNAVAILABLE for test money, and nothing is stored', async () => {
    const { id: walletId } = await world.newWallet()
    await pauseChain('arbitrum-sepolia')
    expectRefused(await post('/v1/demo/fund', { walletId }), 'chain')
    expect(await world.database.db('funding').where({ wallet_id: walletId })).toEqual([])
  })
})

describe('a paused deployment', () => {
  test('error: UNAVAILABLE for calls that would move money, until it is resumed', async () => {
    const { id: walletId } = await world.newWallet({ 'arbitrum-sepolia': 2n * usdc })
    await pause(everything)
    const ways = { fromChain: 'arbitrum-sepolia', toChain: 'base-sepolia' }
    for (const body of [
      { action: 'lend' },
      { action: 'lend', chain: 'arbitrum-sepolia' },
      { action: 'withdraw', chain: 'arbitrum-sepolia' },
      { action: 'bridge', ...ways },
    ]) {
      const asked = { walletId, amount: 1, ...body }
      expectRefused(await post('/v1/intents', asked), 'deployment')
      expectRefused(await post('/v1/intents?dryRun=true', asked), 'deployment')
    }
    expectRefused(await post('/v1/demo/fund', { walletId }), 'deployment')
    expect(await intentsOf(walletId)).toEqual([])
    await resume()
    expect((await world.lend(walletId, 1)).status).toBe(201)
    expect((await post('/v1/demo/fund', { walletId })).status).toBe(201)
  })

  test('reads and cancellations still work', async () => {
    const { id: walletId } = await world.newWallet({ 'arbitrum-sepolia': 2n * usdc })
    const { body } = await world.lend(walletId, 1)
    await pause(everything)
    const read = await world.api.call('GET', `/v1/balances/${walletId}`, { key: world.key })
    expect(read.status).toBe(200)
    const cancelled = await post(`/v1/intents/${body.id}/cancel`, {})
    expect([cancelled.status, cancelled.body.status]).toEqual([200, 'failed'])
  })
})
