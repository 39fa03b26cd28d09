import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerOfFailure, answerOfOutage } from './brokenApis.js'
import { startExecutionWorld, type ExecutionWorld } from './intents/executionWorld.js'
import { startChainWorld, type ChainWorld, type WalletBody } from '../chainWorld.js'
import type { Answer } from '../api.js'
import type { Fault } from '../../support/faultProxy.js'

let world: ExecutionWorld
let walletId: string
/** An answer of each documented status. */
let answers: Record<number, Answer>

beforeAll(async () => {
  world = await startExecutionWorld()
  const created = await world.post('/v1/wallets', { userId: 'alice' })
  walletId = (await world.newWallet(10_000_000n)).id
  answers = {
    200: await world.get('/v1/wallets/alice'),
    201: created,
    400: await world.post('/v1/wallets', { userId: 1 }),
    401: await world.api.call('GET', '/v1/wallets/alice'),
    403: await withAccount({ max_wallets: 0 }, () => world.post('/v1/wallets', { userId: 'bob' })),
    404: await world.get('/v1/wallets/nobody'),
    429: await withAccount({ win_used: 1_000_000 }, () => world.get('/v1/wallets/alice')),
    500: await answerOfFailure(world.lanes.db, world.key, 'alice'),
    503: await answerOfOutage(world.key),
  }
})
afterAll(() => world?.stop())

/** A call of the account with other numbers in its row, which are as before afterwards. */
async function withAccount(values: Record<string, number>, call: () => Promise<Answer>) {
  const row = world.lanes.db('account').where({ id: world.lanes.account.id })
  const before = await row.clone().first<object>(Object.keys(values))
  // As if the clock had stepped back since: this window ends in a minute or later.
  const win = Math.floor(Date.now() / 60_000) + 1
  await row.clone().update({ win, ...values })
  const answer = await call()
  await row.clone().update(before)
  return answer
}

const lend = (amount: unknown, more: object = {}) => world.lend(walletId, amount, more)
const errors = () => Object.values(answers).filter(({ status }) => status >= 400)

describe('Error body', () => {
  test('error: a string, the machine code', () => {
    for (const { body } of errors()) expect(body.error).toMatch(/^[A-Z][A-Z_]+$/)
  })

  test('message: a string, human-readable text', () => {
    for (const { body } of errors()) expect(body.message).toMatch(/^\S+ .+/)
  })

  test('details: an object', () => {
    for (const { body } of errors()) expect(body.details).toEqual(expect.any(Object))
  })

  test('it has exactly the documented fields', () => {
    for (const { body } of errors()) {
      expect(Object.keys(body).sort()).toEqual(['details', 'error', 'message'])
    }
  })

  test('an answer that is no error has none of them', () => {
    for (const status of [200, 201]) expect(answers[status]?.body).not.toHaveProperty('error')
  })
})

describe('HTTP statuses', () => {
  test.each([
    [200, 'OK'],
    [201, 'created'],
    [400, 'bad request'],
    [401, 'API key missing or invalid'],
    [403, 'resource limit exceeded'],
    [404, 'resource does not exist'],
    [429, 'rate limit exceeded'],
    [500, 'server error'],
    [503, 'service temporarily unavailable'],
  ])('%d: %s', (status) => {
    expect(answers[status]?.status).toBe(status)
  })
})

describe('Error codes', () => {
  test('400 INVALID_REQUEST: invalid parameters', async () => {
    for (const answer of [await lend(-1), await lend(1, { chain: 'solana' }), answers[400]]) {
      expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_REQUEST' } })
    }
  })

  test('401 UNAUTHORIZED: invalid API key', async () => {
    const answer = await world.api.call('GET', '/v1/wallets/alice', { key: 'svc_sk_123' })
    expect(answer).toMatchObject({ status: 401, body: { error: 'UNAUTHORIZED' } })
  })

  test('404 WALLET_NOT_FOUND: wallet does not exist', async () => {
    const none = 'svc_wallet_none'
    const found = [answers[404], await world.get(`/v1/balances/${none}`), await world.lend(none, 1)]
    for (const answer of [...found, await world.post('/v1/demo/fund', { walletId: none })]) {
      expect(answer).toMatchObject({ status: 404, body: { error: 'WALLET_NOT_FOUND' } })
    }
  })

  test('429 RATE_LIMITED: too many requests', () => {
    expect(answers[429]).toMatchObject({ status: 429, body: { error: 'RATE_LIMITED' } })
  })

  test.each([
    ['limit', 'number', 1_000],
    ['window', 'string, 1 minute', '1 minute'],
    ['retryAfter', 'number, seconds', expect.any(Number)],
  ])('429 RATE_LIMITED: `details` carries `%s` (%s)', (field, _type, value) => {
    expect(answers[429]?.body.details).toHaveProperty(field, value)
  })

  test('429 RATE_LIMITED: header `Retry-After` is set, to the same as `retryAfter`', () => {
    const { headers, body } = answers[429] as Answer
    expect(headers.get('retry-after')).toBe(String(body.details.retryAfter))
  })
})

describe('400 INSUFFICIENT_FUNDS', () => {
  let chains: ChainWorld
  let wallet: WalletBody

  /** A wallet with 10 USDC, on chains that all answer: a silent one might hold more. */
  beforeAll(async () => {
    chains = await startChainWorld()
    wallet = await chains.newWallet({ 'arbitrum-sepolia': 10_000_000n })
  })
  afterAll(() => chains?.stop())

  test.each([
    ['lend', { amount: 50 }],
    ['withdraw', { amount: 1, chain: 'arbitrum' }],
    ['bridge', { amount: 50, fromChain: 'arbitrum', toChain: 'base' }],
  ])('wallet lacks funds: %s', async (action, { amount, ...more }) => {
    const answer = await chains.lend(wallet.id, amount, { action, ...more })
    expect(answer).toMatchObject({ status: 400, body: { error: 'INSUFFICIENT_FUNDS' } })
  })

  test('`details` carries `required` and `available`', async () => {
    const { body } = await chains.lend(wallet.id, '50.5', { chain: 'arbitrum' })
    expect(body.details).toMatchObject({ required: '50.5', available: '10' })
  })
})

describe('Intent failure reasons', () => {
  test('DEPOSIT_FAILED: funds remain in the destination wallet', async () => {
    const wallet = await world.newWallet(1_000_000n)
    const intent = await world.lend(wallet.id, 1)
    await world.executeInVain(intent)
    expect(await world.read(intent.body.id)).toMatchObject({ error: { code: 'DEPOSIT_FAILED' } })
    expect(await world.lanes.usdcOf(wallet.address)).toBe(1_000_000n)
  })

  test.each<[string, string, Fault]>([
    ['NETWORK_ERROR', 'the connections to the chain break', 'reset'],
    ['RPC_ERROR', 'the node of the chain fails', 'http500'],
  ])(
    '%s is transient: while %s the intent waits, then it completes',
    async (_code, _when, fault) => {
      const intent = await lend(1)
      await world.submit(intent)
      world.lanes.proxy.set(() => fault)
      await world.lanes.sign().catch(() => undefined)
      expect(await world.read(intent.body.id)).toMatchObject({ status: 'executing' })
      world.lanes.proxy.set(undefined)
      await world.resume(intent)
      expect(await world.read(intent.body.id)).toMatchObject({ status: 'completed' })
    },
  )

  test('an intent whose chain does not answer is accepted all the same', async () => {
    world.lanes.proxy.set(() => 'reset')
    const intent = await lend(1, { chain: 'arbitrum' })
    world.lanes.proxy.set(undefined)
    expect(intent).toMatchObject({ status: 201, body: { status: 'pending' } })
  })
})
