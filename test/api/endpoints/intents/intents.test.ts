import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toQuantity } from 'ethers'
import { devnetTerms } from '../../../../dev/devnet/chains.js'
import { callRpc } from '../../../../dev/devnet/rpc.js'
import { connectTemporal } from '../../../../workflows/client/connect.js'
import { closedUrl, startChains, type TestChains } from '../../../planning/chains.js'
import { startApi, startWorld, withoutId, type ApiResponse, type ApiWorld } from '../../api.js'
import type { WalletBody } from '../../chainWorld.js'
import { notBegun } from './begun.js'
import type { ChainName } from '../../../../evm/registry.js'

const usdc = 1_000_000n

let chains: TestChains
let world: ApiWorld
let key: string

beforeAll(async () => {
  chains = await startChains()
  // Their fresh nodes ask for many times more, and less with each block: plans would warn of it, or not.
  for (const [name, { baseFeeWei }] of Object.entries(devnetTerms)) {
    const url = chains.urls[name as ChainName]
    await callRpc(url, 'anvil_setNextBlockBaseFeePerGas', [toQuantity(baseFeeWei)])
    await callRpc(url, 'evm_mine')
  }
  world = await startWorld(chains)
  key = await world.newKey()
})
afterAll(async () => {
  await world.stop()
  await chains.stop()
})

let users = 0

async function newWallet(funds: Partial<Record<ChainName, bigint>> = {}): Promise<WalletBody> {
  const body = { userId: `user ${(users += 1)}` }
  const created = await world.api.call('POST', '/v1/wallets', { key, body })
  const { id, address } = created.body as unknown as WalletBody
  for (const [chain, units] of Object.entries(funds)) {
    await chains.mint(chain as ChainName, address, units)
  }
  await chains.index(world.database.db)
  return { id, address }
}

const post = (body: unknown, api = world.api) => api.call('POST', '/v1/intents', { key, body })
const lend = (walletId: string, amount: unknown, more = {}) =>
  post({ walletId, action: 'lend', amount, ...more })
const rowOf = ({ body }: ApiResponse) =>
  world.database.db('intent').where({ id: body.id }).first<Record<string, unknown>>()
const intentsOf = (walletId: string) => world.database.db('intent').where({ wallet_id: walletId })

describe('POST /v1/intents', () => {
  test('201: plans a lend where the APY is highest, as documented', async () => {
    const { id: walletId } = await newWallet({ 'base-sepolia': 20n * usdc })
    const answer = await lend(walletId, 12.5)
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^intent_[0-9a-z]{26}$/),
      ...{ walletId, status: 'planning', action: 'lend', amount: 12.5, asset: 'USDC' },
      executionPlan: {
        strategy: 'direct-deposit',
        ...{ targetChain: 'base-sepolia', targetAlias: 'base' },
        targetProtocol: 'aave-v3',
        expectedApy: expect.closeTo(4.12, 2),
        steps: [
          {
            ...{ type: 'deposit', sequence: 1, chain: 'base-sepolia', alias: 'base' },
            ...{ protocol: 'aave-v3', asset: 'USDC', amount: '12.5', status: 'pending' },
          },
        ],
        estimatedGasUsd: expect.any(Number),
        estimatedTime: '1-5 seconds',
        reasoning: expect.stringContaining('best rate of 5'),
        alternatives: [
          expect.objectContaining({ chain: 'base-sepolia', protocol: 'erc4626' }),
          expect.objectContaining({ chain: 'arbitrum-sepolia', protocol: 'aave-v3' }),
          expect.objectContaining({ chain: 'ethereum-sepolia', protocol: 'aave-v3' }),
          expect.objectContaining({ chain: 'ethereum-sepolia', protocol: 'compound-v3' }),
        ],
      },
      ...notBegun({ chain: 'base-sepolia', asset: 'USDC', amount: '12.5' }),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    })
  })

  test('stores intent, plan and reservation, and reports that its workflow was started', async () => {
    const { id: walletId } = await newWallet({ 'base-sepolia': 5n * usdc })
    const answer = await lend(walletId, '5')
    const row = await rowOf(answer)
    expect(row).toMatchObject({
      ...{ wallet_id: walletId, action: 'lend', asset: 'USDC', units: '5000000', chain: null },
      ...{ status: 'planning', error: null, dispatched_at: expect.any(Date) },
      request_id: answer.headers.get('x-request-id'),
      plan: { steps: [{ market: expect.stringMatching(/^0x/), amount: '5' }] },
    })
    expect(
      await world.database.db('reservation').where({ intent_id: answer.body.id }),
    ).toMatchObject([{ wallet_id: walletId, chain_id: 84_532n, units: '5000000' }])
  })

  test('starts one workflow, with the id of the intent', async () => {
    const { id: walletId } = await newWallet({ 'base-sepolia': usdc })
    world.temporal.started.length = 0
    const answer = await lend(walletId, 1)
    const { account_id: accountId, plan } = (await rowOf(answer)) ?? {}
    expect(world.temporal.started).toEqual([
      {
        workflow: 'executeIntent',
        options: {
          workflowId: answer.body.id,
          taskQueue: 'intents',
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowTaskTimeout: 5_000,
          workflowIdConflictPolicy: 'USE_EXISTING',
          args: [{ intentId: answer.body.id, accountId, walletId, plan }],
          priority: { priorityKey: 3, fairnessKey: accountId },
          memo: { requestId: answer.headers.get('x-request-id') },
          staticSummary: 'lend 1 USDC on base-sepolia',
          staticDetails: `Intent ${answer.body.id}`,
          typedSearchAttributes: expect.anything(),
        },
      },
    ])
    const { typedSearchAttributes } = world.temporal.started[0]?.options as {
      typedSearchAttributes: { getAll(): { key: { name: string }; value: unknown }[] }
    }
    const pairs = typedSearchAttributes.getAll().map(({ key: { name }, value }) => [name, value])
    expect(Object.fromEntries(pairs)).toEqual({
      ...{ AccountId: accountId, WalletId: walletId, IntentAction: 'lend' },
      ...{ SourceChain: 'base-sepolia', TargetChain: 'base-sepolia' },
      RequestId: answer.headers.get('x-request-id'),
      UserId: expect.any(String),
    })
  })

  test.each([
    ['arbitrum', 'arbitrum-sepolia'],
    ['arbitrum-sepolia', 'arbitrum-sepolia'],
    ['ethereum', 'ethereum-sepolia'],
    ['base', 'base-sepolia'],
  ] as const)('the chain %s is %s', async (named, canonical) => {
    const { id } = await newWallet({ [canonical]: usdc, 'arbitrum-sepolia': usdc })
    const answer = await lend(id, 1, { chain: named })
    expect(answer.body).toMatchObject({ executionPlan: { targetChain: canonical } })
    expect(await rowOf(answer)).toMatchObject({ chain: canonical })
  })

  test('error: INSUFFICIENT_FUNDS with required and available; nothing is stored or started', async () => {
    const { id } = await newWallet({ 'arbitrum-sepolia': usdc - 1n, 'base-sepolia': 1n })
    world.temporal.started.length = 0
    const { status, body, headers } = await lend(id, 1)
    expect(status).toBe(400)
    expect(body).toEqual({
      error: 'INSUFFICIENT_FUNDS',
      message: expect.stringContaining('0.999999'),
      details: {
        ...{ required: '1', available: '0.999999' },
        funds: [
          { chain: 'ethereum-sepolia', asset: 'USDC', amount: '0' },
          { chain: 'arbitrum-sepolia', asset: 'USDC', amount: '0.999999' },
          { chain: 'base-sepolia', asset: 'USDC', amount: '0.000001' },
        ],
        docs: '/docs/errors#INSUFFICIENT_FUNDS',
        requestId: headers.get('x-request-id'),
      },
    })
    expect(await intentsOf(id)).toEqual([])
    expect(await world.database.db('reservation').where({ wallet_id: id })).toEqual([])
    expect(world.temporal.started).toEqual([])
  })

  test('error: INSUFFICIENT_FUNDS when an earlier intent has reserved the money', async () => {
    const { id } = await newWallet({ 'arbitrum-sepolia': 3n * usdc })
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => lend(id, 1)))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, 201, 201, 400, 400])
    expect(await intentsOf(id)).toHaveLength(3)
  })

  test('error: WALLET_NOT_FOUND alike for an unknown wallet and for one of another account', async () => {
    const { id } = await newWallet({ 'arbitrum-sepolia': usdc })
    const stranger = await world.newKey()
    const unknownId = `svc_wallet_${'0'.repeat(26)}`
    const body = (walletId: string) => ({ walletId, action: 'lend', amount: 1 })
    const theirs = await world.api.call('POST', '/v1/intents', { key: stranger, body: body(id) })
    const unknown = await world.api.call('POST', '/v1/intents', {
      key: stranger,
      body: body(unknownId),
    })
    expect([theirs.status, theirs.body.error]).toEqual([404, 'WALLET_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
    expect(await intentsOf(id)).toEqual([])
  })

  const good = { walletId: 'w', action: 'lend', amount: 1 }
  test.each([
    ['walletId', { ...good, walletId: undefined }],
    ['walletId', { ...good, walletId: 7 }],
    ['walletId', { ...good, walletId: 'a\0' }],
    ['action', { ...good, action: undefined }],
    ['action', { ...good, action: 'steal' }],
    ['amount', { ...good, amount: undefined }],
    ['amount', { ...good, amount: null }],
    ['amount', { ...good, amount: 0 }],
    ['amount', { ...good, amount: -1 }],
    ['amount', { ...good, amount: 1e21 }],
    ['amount', { ...good, amount: 1e-7 }],
    ['amount', { ...good, amount: 0.1 + 0.2 }],
    ['amount', { ...good, amount: 9_007_199_254_740_992 }],
    ['amount', { ...good, amount: '1e6' }],
    ['amount', { ...good, amount: '' }],
    ['amount', { ...good, amount: '9'.repeat(78) }],
    ['amount', { ...good, amount: '9'.repeat(100) }],
    ['amount', { ...good, amount: [1] }],
    ['asset', { ...good, asset: 'DOGE' }],
    ['chain', { ...good, chain: 'solana' }],
    ['chain', { ...good, chain: 1 }],
    ['chain', { ...good, chain: '' }],
    ['fromChain', { ...good, fromChain: 'base' }],
    ['recipient', { ...good, recipient: '0x01' }],
    ['__proto__', JSON.parse('{"walletId":"w","action":"lend","amount":1,"__proto__":{}}')],
  ])('error: INVALID_REQUEST names %s in %j', async (path, body) => {
    const answer = await post(body)
    expect([answer.status, answer.body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(answer.body.details.issues).toEqual([{ path, message: expect.any(String) }])
  })

  test('error: INVALID_REQUEST for a number beyond all doubles', async () => {
    const raw = '{"walletId":"w","action":"lend","amount":1e400}'
    const { status, body } = await world.api.call('POST', '/v1/intents', { key, raw })
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details).toMatchObject({ issues: [{ path: 'amount' }] })
  })

  test('201 pending when the chain does not answer, and the workflow plans', async () => {
    const urls = { ...chains.urls, 'base-sepolia': closedUrl }
    const half = await startHalf(urls)
    const { id } = await newWallet({ 'base-sepolia': usdc })
    world.temporal.started.length = 0
    const answer = await post({ walletId: id, action: 'lend', amount: 1, chain: 'base' }, half.api)
    expect(answer.status).toBe(201)
    expect(answer.body).not.toHaveProperty('executionPlan')
    expect(answer.body.status).toBe('pending')
    expect(world.temporal.started).toMatchObject([
      { options: { workflowId: answer.body.id, staticSummary: 'lend 1 USDC on base-sepolia' } },
    ])
    expect(world.temporal.started[0]?.options.args).toEqual([
      expect.not.objectContaining({ plan: expect.anything() }),
    ])
    await half.stop()
  })

  test('an amount that only a pending intent could store is rejected or stored, never INTERNAL', async () => {
    const half = await startHalf({ ...chains.urls, 'base-sepolia': closedUrl })
    const { id: walletId } = await newWallet()
    const amount = (2n ** 256n - 1n).toString().slice(0, -6)
    const body = { walletId, action: 'lend', amount, chain: 'base' }
    const answer = await post(body, half.api)
    expect(answer.status).toBe(201)
    expect(await rowOf(answer)).toMatchObject({ units: `${amount}000000`, status: 'pending' })
    await half.stop()
  })

  test('201 when Temporal is unreachable, and it can be read', async () => {
    const temporal = connectTemporal('127.0.0.1:1', 'default')
    const lonely = await startApi({ db: world.db, temporal, ...chains })
    const { id: walletId } = await newWallet({ 'arbitrum-sepolia': usdc })
    const answer = await post({ walletId, action: 'lend', amount: 1 }, lonely)
    expect([answer.status, answer.body.status]).toEqual([201, 'planning'])
    const read = await lonely.call('GET', `/v1/intents/${answer.body.id}`, { key })
    expect(read.body).toMatchObject({ status: 'planning' })
    await lonely.stop()
    await temporal.connection.close()
  })
})

/** The API with chains behind other URLs, in addition to the one of the world. */
async function startHalf(urls: Record<ChainName, string>) {
  const { connectChains } = await import('../../../../evm/connect.js')
  const its = connectChains(chains.registry, urls)
  const { client: temporal } = world.temporal
  const { untilStarted } = world
  const api = await startApi({ ...chains, db: world.db, temporal, chains: its, untilStarted })
  return {
    api,
    async stop() {
      for (const client of its.list) client.close()
      await api.stop()
    },
  }
}
