import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'
import { bridgeNotBegun, notBegun, withoutProgress } from './begun.js'
import type { ApiResponse } from '../../api.js'

const usdc = 1_000_000n

let world: ChainWorld

beforeAll(async () => {
  world = await startChainWorld()
})
afterAll(() => world?.stop())

const post = (body: unknown, query = '') =>
  world.api.call('POST', `/v1/intents${query}`, { key: world.key, body })
const any = { walletId: 'w', amount: 1 }
const withdraw = { ...any, action: 'withdraw', chain: 'base' }
const bridge = { ...any, action: 'bridge', fromChain: 'base', toChain: 'arbitrum-sepolia' }
const rowOf = ({ body }: ApiResponse) =>
  world.database.db('intent').where({ id: body.id }).first<object>()
const reservationsOf = ({ body }: ApiResponse) =>
  world.database.db('reservation').where({ intent_id: body.id }).orderBy('sequence')
const balance = async () =>
  (await world.api.call('GET', '/dashboard/credits', { key: world.key })).body.balance

describe('POST /v1/intents: fields of withdraw and bridge', () => {
  test.each([
    ['chain', { ...withdraw, chain: undefined }],
    ['chain', { ...withdraw, chain: 'solana' }],
    ['chain', { ...withdraw, chain: '' }],
    ['fromChain', { ...withdraw, fromChain: 'base' }],
    ['toChain', { ...withdraw, toChain: 'base' }],
    ['asset', { ...withdraw, asset: 'ETH' }],
    ['asset', { ...withdraw, asset: 'TUSD' }],
    ['amount', { ...withdraw, amount: 0 }],
    ['amount', { ...withdraw, amount: 1e-7 }],
    ['amount', { ...withdraw, amount: 'MAX' }],
    ['fromChain', { ...bridge, fromChain: undefined }],
    ['toChain', { ...bridge, toChain: undefined }],
    ['fromChain', { ...bridge, fromChain: 'solana' }],
    ['toChain', { ...bridge, toChain: 'solana' }],
    ['toChain', { ...bridge, toChain: 'base' }],
    ['toChain', { ...bridge, toChain: 'base-sepolia' }],
    ['chain', { ...bridge, chain: 'base' }],
    ['asset', { ...bridge, asset: 'ETH' }],
    ['amount', { ...bridge, amount: 'max' }],
    ['amount', { ...any, action: 'lend', amount: 'max' }],
    ['toChain', { ...any, action: 'lend', toChain: 'base' }],
    ['action', { ...any, action: 'swap' }],
    ['action', any],
  ])('error: INVALID_REQUEST names %s in %j', async (path, body) => {
    const answer = await post(body)
    expect([answer.status, answer.body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(answer.body.details.issues).toEqual([{ path, message: expect.any(String) }])
    expect(answer.body.details).not.toHaveProperty('reason')
  })
})

describe('POST /v1/intents: bridge', () => {
  const plan = (amount: string, maxFee: string, arrives: string) => ({
    strategy: 'direct-bridge',
    ...{ targetChain: 'arbitrum-sepolia', targetAlias: 'arbitrum' },
    steps: [
      {
        ...{ type: 'bridge', sequence: 1, from: 'base-sepolia', fromAlias: 'base' },
        ...{ to: 'arbitrum-sepolia', toAlias: 'arbitrum' },
        ...{ protocol: 'cctp', asset: 'USDC', amount, speed: 'fast', maxFee, arrives },
      },
    ],
    estimatedGasUsd: expect.any(Number),
    estimatedTime: expect.stringMatching(/^\d+-\d+ (seconds|minutes)$/),
    reasoning: expect.stringContaining(`${arrives} USDC arrive`),
  })

  test('201: one step, and the chains by their canonical names', async () => {
    const { id: walletId } = await world.newWallet({ 'base-sepolia': 2n * usdc })
    const { status, body } = await post({ ...bridge, walletId, amount: '1.5' })
    expect(status).toBe(201)
    const planned = plan('1.5', '0.00018', '1.49985')
    expect(body).toEqual({
      id: expect.stringMatching(/^intent_[0-9a-z]{26}$/),
      ...{ walletId, status: 'planning', action: 'bridge', amount: 1.5, asset: 'USDC' },
      ...{ fromChain: 'base-sepolia', toChain: 'arbitrum-sepolia' },
      executionPlan: {
        ...planned,
        steps: [{ ...planned.steps[0], ...bridgeNotBegun('base-sepolia', 'arbitrum-sepolia') }],
      },
      ...notBegun({ chain: 'base-sepolia', asset: 'USDC', amount: '1.5' }),
      createdAt: expect.any(String),
    })
  })

  test('reserves what it burns, and starts the workflow', async () => {
    const { id: walletId } = await world.newWallet({ 'base-sepolia': 2n * usdc })
    world.temporal.started.length = 0
    const answer = await post({ ...bridge, walletId })
    expect(await rowOf(answer)).toMatchObject({
      ...{ action: 'bridge', chain: 'arbitrum-sepolia', from_chain: 'base-sepolia' },
      units: '1000000',
    })
    expect(await reservationsOf(answer)).toMatchObject([
      { chain_id: 84_532n, units: '1000000', from_block: 0n },
    ])
    expect(world.temporal.started).toMatchObject([{ options: { workflowId: answer.body.id } }])
    expect((await post({ ...bridge, walletId, amount: 1.1 })).status).toBe(400)
  })

  test('?dryRun=true: the same plan, and nothing is stored or charged', async () => {
    const { id: walletId } = await world.newWallet({ 'base-sepolia': usdc })
    const [credits, intents] = [await balance(), await world.database.db('intent').select('id')]
    const { status, body } = await post({ ...bridge, walletId }, '?dryRun=true')
    expect([status, body]).toEqual([
      200,
      {
        ...{ dryRun: true, walletId, action: 'bridge', amount: 1, asset: 'USDC' },
        executionPlan: plan('1', '0.00012', '0.9999'),
      },
    ])
    expect(await balance()).toBe(credits)
    expect(await world.database.db('intent').select('id')).toEqual(intents)
    const { executionPlan } = (await post({ ...bridge, walletId })).body
    expect(withoutProgress(executionPlan)).toEqual(body.executionPlan)
  })

  test('error: INSUFFICIENT_FUNDS when the money is on another chain, and nothing is charged', async () => {
    const { id: walletId } = await world.newWallet({ 'ethereum-sepolia': 9n * usdc })
    const { status, body, headers } = await post({ ...bridge, walletId })
    expect([status, body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect(body.details).toMatchObject({ required: '1', available: '0' })
    expect(body.details.funds).toContainEqual({
      ...{ chain: 'ethereum-sepolia', asset: 'USDC', amount: '9' },
    })
    expect(headers.get('x-credits-charged')).toBe('0')
  })

  test('uses the standard transfer without a fee when the fast fee exceeds the amount', async () => {
    const { id: walletId } = await world.newWallet({ 'base-sepolia': 1n })
    const { body } = await post({ ...bridge, walletId, amount: '0.000001' })
    expect(body.executionPlan).toMatchObject({
      steps: [{ speed: 'standard', amount: '0.000001', arrives: '0.000001', maxFee: '0' }],
    })
  })

  test('error: above_maximum for more than the bridge moves at once', async () => {
    const { id: walletId } = await world.newWallet()
    const { status, body } = await post({ ...bridge, walletId, amount: '10000000.000001' })
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details).toMatchObject({
      ...{ reason: 'above_maximum', issues: [{ path: 'amount' }] },
    })
  })
})

describe('POST /v1/intents: withdraw', () => {
  test('201: one step out of the market of its chain', async () => {
    const wallet = await world.newWallet()
    await world.supply('base-sepolia', wallet, 5n * usdc)
    const { status, body } = await post({ ...withdraw, walletId: wallet.id, amount: 1.5 })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^intent_[0-9a-z]{26}$/),
      ...{ walletId: wallet.id, status: 'planning', action: 'withdraw', amount: 1.5 },
      ...{ asset: 'USDC', chain: 'base-sepolia' },
      executionPlan: {
        strategy: 'direct-withdraw',
        ...{ targetChain: 'base-sepolia', targetAlias: 'base', targetProtocol: 'aave-v3' },
        steps: [
          {
            ...{ type: 'withdraw', sequence: 1, chain: 'base-sepolia', alias: 'base' },
            ...{ protocol: 'aave-v3', asset: 'USDC', amount: '1.5', status: 'pending' },
          },
        ],
        estimatedGasUsd: expect.any(Number),
        estimatedTime: '1-5 seconds',
        reasoning: expect.stringContaining('aave-v3 on base-sepolia'),
      },
      ...notBegun({
        ...{ chain: 'base-sepolia', protocol: 'aave-v3', asset: 'USDC', amount: '1.5' },
      }),
      createdAt: expect.any(String),
    })
  })

  test('reserves the market tokens of the money', async () => {
    const wallet = await world.newWallet()
    await world.supply('base-sepolia', wallet, 5n * usdc)
    const answer = await post({ ...withdraw, walletId: wallet.id, amount: 3 })
    const [market] = world.chains.registry.get('base-sepolia').markets
    expect(await reservationsOf(answer)).toMatchObject([
      {
        ...{ chain_id: 84_532n, units: '3000000', everything: false },
        ...{ token: market?.receiptToken.toLowerCase(), market: market?.address.toLowerCase() },
      },
    ])
    const { status, body } = await post({ ...withdraw, walletId: wallet.id, amount: 3 })
    expect([status, body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
  })

  test('a market of another dollar: swaps the output to USDC', async () => {
    const wallet = await world.newWallet()
    await world.supply('ethereum-sepolia', wallet, 5n * usdc)
    const body = { ...withdraw, walletId: wallet.id, chain: 'ethereum' }
    const answer = await post(body)
    const chain = 'ethereum-sepolia'
    expect(answer.body.executionPlan).toMatchObject({
      steps: [
        { type: 'withdraw', sequence: 1, chain, protocol: 'aave-v3', asset: 'TUSD' },
        { type: 'swap', sequence: 2, chain, asset: 'TUSD', toAsset: 'USDC' },
      ],
    })
  })

  test('amount `max`: everything, at its current value', async () => {
    const wallet = await world.newWallet()
    await world.supply('arbitrum-sepolia', wallet, 5n * usdc)
    const body = { ...withdraw, walletId: wallet.id, chain: 'arbitrum', amount: 'max' }
    const dry = await post(body, '?dryRun=true')
    const answer = await post(body)
    expect([dry.status, answer.status]).toEqual([200, 201])
    expect(answer.body.amount).toBeCloseTo(5, 4)
    expect(dry.body.amount).toBeCloseTo(5, 4)
    expect(await rowOf(answer)).toMatchObject({ everything: true })
    expect(await reservationsOf(answer)).toMatchObject([{ everything: true }])
  })

  test('?dryRun=true: the same plan, and nothing is stored', async () => {
    const wallet = await world.newWallet()
    await world.supply('base-sepolia', wallet, 5n * usdc)
    const body = { ...withdraw, walletId: wallet.id }
    const intents = await world.database.db('intent').select('id')
    const dry = await post(body, '?dryRun=true')
    expect([dry.status, await world.database.db('intent').select('id')]).toEqual([200, intents])
    const { executionPlan } = (await post(body)).body
    expect(dry.body).toEqual({
      ...{ dryRun: true, walletId: wallet.id, action: 'withdraw', amount: 1, asset: 'USDC' },
      executionPlan: withoutProgress(executionPlan),
    })
  })

  test('error: INSUFFICIENT_FUNDS with what is lent where, and nothing is charged', async () => {
    const wallet = await world.newWallet({ 'base-sepolia': 9n * usdc })
    await world.supply('arbitrum-sepolia', wallet, 2n * usdc)
    for (const [amount, required] of [
      [1, '1'],
      ['max', 'max'],
    ]) {
      const { status, body, headers } = await post({ ...withdraw, walletId: wallet.id, amount })
      expect([status, body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
      expect(body.details).toMatchObject({ required, available: '0' })
      const chain = 'arbitrum-sepolia'
      expect(body.details.funds).toMatchObject([{ chain, protocol: 'aave-v3', asset: 'USDC' }])
      expect(headers.get('x-credits-charged')).toBe('0')
    }
  })
})

describe('POST /v1/intents: market_busy', () => {
  const busy = { error: 'INVALID_REQUEST', details: { reason: 'market_busy' } }

  test('while everything is withdrawn, no other step touches that market', async () => {
    const wallet = await world.newWallet({ 'base-sepolia': usdc, 'arbitrum-sepolia': 3n * usdc })
    await world.supply('arbitrum-sepolia', wallet, 5n * usdc)
    const out = { ...withdraw, walletId: wallet.id, chain: 'arbitrum' }
    const all = await post({ ...out, amount: 'max' })
    expect(all.status).toBe(201)
    const again = { status: 400, body: busy }
    expect(await world.lend(wallet.id, 1, { chain: 'arbitrum' })).toMatchObject(again)
    expect(await post({ ...out, amount: 'max' })).toMatchObject(again)
    expect((await world.lend(wallet.id, 1, { chain: 'base' })).status).toBe(201)
    await world.api.call('POST', `/v1/intents/${all.body.id}/cancel`, { key: world.key })
    expect((await world.lend(wallet.id, 1, { chain: 'arbitrum' })).status).toBe(201)
  })

  test('while a step touches a market, nothing withdraws everything from it', async () => {
    const wallet = await world.newWallet({ 'arbitrum-sepolia': usdc })
    await world.supply('arbitrum-sepolia', wallet, 5n * usdc)
    const out = { ...withdraw, walletId: wallet.id, chain: 'arbitrum' }
    expect((await world.lend(wallet.id, 1, { chain: 'arbitrum' })).status).toBe(201)
    expect(await post({ ...out, amount: 'max' })).toMatchObject({ status: 400, body: busy })
    expect((await post({ ...out, amount: 1 })).status).toBe(201)
  })
})
