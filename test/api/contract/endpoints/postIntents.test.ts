import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'
import type { ApiResponse } from '../../api.js'

let world: ChainWorld
let walletId: string

/** A wallet with 100 USDC on each chain, and as many lent on one of them. */
beforeAll(async () => {
  world = await startChainWorld()
  const units = 100_000_000n
  const chains = { 'ethereum-sepolia': units, 'arbitrum-sepolia': units, 'base-sepolia': units }
  const wallet = await world.newWallet(chains)
  await world.supply('base-sepolia', wallet, units)
  walletId = wallet.id
})
afterAll(() => world?.stop())

const post = (body: object) => world.api.call('POST', '/v1/intents', { key: world.key, body })
const lend = (more: object = {}) => post({ walletId, action: 'lend', amount: 1, ...more })
const withdraw = (more: object = {}) =>
  post({ walletId, action: 'withdraw', amount: 1, chain: 'base', ...more })
const bridge = (more: object = {}) =>
  post({ walletId, action: 'bridge', amount: 1, fromChain: 'base', toChain: 'ethereum', ...more })
const read = async (path: string) => (await world.api.call('GET', path, { key: world.key })).body

/** 400 by the name of one field, and of no other. */
const invalid = (path: string) => ({
  status: 400,
  body: { error: 'INVALID_REQUEST', details: { issues: [{ path, message: expect.any(String) }] } },
})
/** The fields that an answer complains of. */
const faultsOf = ({ body }: ApiResponse) =>
  ((body.details?.issues ?? []) as { path: string }[]).map(({ path }) => path)
const plan = (fields: object) => ({ status: 201, body: { executionPlan: fields } })

describe('POST /intents: body', () => {
  test.each(['walletId', 'action', 'amount'])('%s: required', async (field) => {
    expect(await lend({ [field]: undefined })).toMatchObject(invalid(field))
  })

  test.each([
    ['walletId', 'a string', [1, null, {}]],
    ['action', 'a string', [1, null, {}]],
    ['amount', 'a number', [null, true, 'much', {}, [1]]],
    ['asset', 'a string', [1, null, {}]],
    ['chain', 'a string', [1, null, {}]],
  ])('%s: %s', async (field, _type, values) => {
    for (const value of values) {
      expect(await lend({ [field]: value })).toMatchObject(invalid(field))
    }
  })

  test.each(['fromChain', 'toChain'])('%s: a string', async (field) => {
    for (const value of [1, null, {}]) {
      expect(await bridge({ [field]: value })).toMatchObject(invalid(field))
    }
  })

  test('walletId: the id of a wallet', async () => {
    expect((await lend()).body.walletId).toBe(walletId)
  })

  test('action: `lend`, `withdraw` and `bridge`', async () => {
    expect(await lend()).toMatchObject({ status: 201, body: { action: 'lend' } })
    expect(await withdraw()).toMatchObject({ status: 201, body: { action: 'withdraw' } })
    expect(await bridge()).toMatchObject({ status: 201, body: { action: 'bridge' } })
  })

  test('action: `withdraw` and `bridge` have fields of their own', async () => {
    expect(faultsOf(await withdraw({ toChain: 'base' }))).toEqual(['toChain'])
    expect(faultsOf(await bridge({ chain: 'base' }))).toEqual(['chain'])
  })

  test('action: nothing else', async () => {
    for (const action of ['swap', 'LEND', '']) {
      expect(await lend({ action })).toMatchObject(invalid('action'))
    }
  })

  test('amount: in token units, so that 2.5 USDC are 2500000 minimal units', async () => {
    const { body } = await lend({ amount: 2.5 })
    expect(body.amount).toBe(2.5)
    const reserved = await world.database.db('reservation').where({ intent_id: body.id })
    expect(reserved).toMatchObject([{ units: '2500000' }])
  })

  test('asset: not required, `USDC` by default', async () => {
    expect((await lend()).body.asset).toBe('USDC')
    expect((await lend({ asset: 'USDC' })).body.asset).toBe('USDC')
  })

  test('chain: optional for `lend`', async () => {
    expect((await lend()).status).toBe(201)
    expect((await lend({ chain: 'base' })).status).toBe(201)
  })

  test('chain: required for `withdraw`', async () => {
    expect(await withdraw({ chain: undefined })).toMatchObject(invalid('chain'))
  })

  test.each(['fromChain', 'toChain'])('%s: required for `bridge`', async (field) => {
    expect(await bridge({ [field]: undefined })).toMatchObject(invalid(field))
  })
})

describe('POST /intents: rules', () => {
  test('1. a lend without `chain` goes to the chain with the best APY', async () => {
    const { best } = await read('/v1/yields')
    const { chain, apy } = best as { chain: string; apy: number }
    const answer = await lend()
    expect(answer).toMatchObject(plan({ targetChain: chain, expectedApy: apy }))
  })

  test('1. a lend with `chain` goes there', async () => {
    const answer = await lend({ chain: 'ethereum' })
    expect(answer).toMatchObject(plan({ targetChain: 'ethereum-sepolia' }))
  })

  test.each(['base', 'base-sepolia'])(
    '2. the `chain` of a withdraw names where to withdraw from: %s',
    async (chain) => {
      const steps = [{ type: 'withdraw', chain: 'base-sepolia' }]
      expect(await withdraw({ chain })).toMatchObject(plan({ targetChain: 'base-sepolia', steps }))
    },
  )

  test('2. it is withdrawn from that chain only, and from none that does not exist', async () => {
    const insufficient = { status: 400, body: { error: 'INSUFFICIENT_FUNDS' } }
    expect(await withdraw({ chain: 'arbitrum' })).toMatchObject(insufficient)
    expect(await withdraw({ chain: 'solana' })).toMatchObject(invalid('chain'))
  })

  test.each([
    ['base', 'ethereum', 'base-sepolia', 'ethereum-sepolia'],
    ['arbitrum-sepolia', 'base', 'arbitrum-sepolia', 'base-sepolia'],
  ])(
    '3. `fromChain` and `toChain` of a bridge name source and destination: %s, %s',
    async (fromChain, toChain, from, to) => {
      const steps = [{ type: 'bridge', from, to }]
      const answer = await bridge({ fromChain, toChain })
      expect(answer).toMatchObject(plan({ targetChain: to, steps }))
    },
  )

  test.each(['fromChain', 'toChain'])(
    '3. `%s` of a bridge is the name of a chain',
    async (field) => {
      expect(await bridge({ [field]: 'solana' })).toMatchObject(invalid(field))
    },
  )

  test('3. source and destination of a bridge are two chains', async () => {
    expect(await bridge({ toChain: 'base-sepolia' })).toMatchObject(invalid('toChain'))
  })

  test('4. the response includes the intent with an `executionPlan` and status `planning`', async () => {
    for (const { body } of [await lend(), await withdraw(), await bridge()]) {
      expect(body.status).toBe('planning')
      expect(body.executionPlan).toMatchObject({ steps: [{ sequence: 1 }] })
    }
  })

  test('4. execution is asynchronous: nothing is done yet, and it was started', async () => {
    world.temporal.started.length = 0
    const { body } = await lend()
    expect(body).not.toHaveProperty('results')
    expect(world.temporal.started).toMatchObject([{ options: { workflowId: body.id } }])
  })

  test('4. the caller polls GET /intents/:intentId', async () => {
    const { body } = await lend()
    expect(await read(`/v1/intents/${body.id}`)).toEqual(body)
  })

  test('4. an interval of 5 to 10 seconds is recommended in the documents of the service', async () => {
    const { paths } = await read('/openapi.json')
    expect(paths).toMatchObject({
      '/intents': { post: { description: expect.stringContaining('every 5 to 10 seconds') } },
    })
  })

  test.each([
    ['lend', lend],
    ['withdraw', withdraw],
    ['bridge', bridge],
  ])('5. creating an intent consumes 5 credits: %s', async (_action, create) => {
    const before = await read('/dashboard/credits')
    await create()
    const after = await read('/dashboard/credits')
    expect(Number(before.balance) - Number(after.balance)).toBe(5)
  })

  test('6. write operations accept only API key authentication', async () => {
    const body = { walletId, action: 'lend', amount: 1 }
    const headers = { 'x-payment': 'eyJ4NDAyVmVyc2lvbiI6MX0=' }
    expect((await world.api.call('POST', '/v1/intents', { body, headers })).status).toBe(401)
  })
})

describe('POST /intents: responses', () => {
  test('201: the intent resource', async () => {
    const { status, body } = await lend()
    const fields = ['id', 'walletId', 'status', 'action', 'amount', 'asset', 'createdAt']
    expect(status).toBe(201)
    const besides = [
      ...['userId', 'requestId', 'actions', 'executionPlan', 'currentStep', 'funds'],
      ...['updatedAt', 'waitingFor'],
    ]
    expect(Object.keys(body).sort()).toEqual([...fields, ...besides].sort())
  })

  test.each([
    ['400 INVALID_REQUEST', { amount: -1 }],
    ['400 INSUFFICIENT_FUNDS', { amount: 1_000 }],
    ['404 WALLET_NOT_FOUND', { walletId: 'svc_wallet_none' }],
  ])('%s for %j', async (expected, more) => {
    const { status, body } = await lend(more)
    expect(`${status} ${String(body.error)}`).toBe(expected)
  })

  test('401 UNAUTHORIZED without a key', async () => {
    const answer = await world.api.call('POST', '/v1/intents', { body: {} })
    expect(answer).toMatchObject({ status: 401, body: { error: 'UNAUTHORIZED' } })
  })
})
