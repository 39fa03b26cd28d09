import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChainWorld, type ChainWorld } from '../../chainWorld.js'

const usdc = 1_000_000n

let world: ChainWorld
let walletId: string

/** A wallet with money on two chains, and some that is lent. */
beforeAll(async () => {
  world = await startChainWorld()
  const money = { 'ethereum-sepolia': 99n * usdc, 'arbitrum-sepolia': 99n * usdc }
  const wallet = await world.newWallet(money)
  await world.supply('base-sepolia', wallet, 99n * usdc)
  walletId = wallet.id
})
afterAll(() => world?.stop())

const lend = (metadata: unknown, more: object = {}, query = '') =>
  world.lend(walletId, 1, { ...(metadata === undefined ? {} : { metadata }), ...more }, query)
const get = async (path: string) => world.api.call('GET', `/v1/intents${path}`, { key: world.key })
const intents = async () => {
  const rows = await world.database.db('intent').select<{ id: string }[]>('id')
  return rows.length
}
const withdraw = { action: 'withdraw', chain: 'base' }
const bridge = { action: 'bridge', fromChain: 'arbitrum', toChain: 'base' }
const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) })

describe('metadata of an intent', () => {
  test.each([
    [{ order: 7, tags: ['a', null, true], ключ: '😀' }],
    [{}],
    [{ '': 'empty', 'a.b': [], $ref: {}, constructor: 'x' }],
    [nested(5)],
  ])('comes back unchanged: %j', async (metadata) => {
    const { status, body, text } = await lend(metadata)
    expect([status, body.metadata]).toEqual([201, metadata])
    expect(text).toContain(`"metadata":${JSON.stringify(metadata)}`)
    const read = await get(`/${body.id}`)
    expect(read.body.metadata).toEqual(metadata)
    const [first] = (await get(`?walletId=${walletId}&limit=1`)).body.data as object[]
    expect(first).toMatchObject({ id: body.id, metadata })
  })

  test.each([withdraw, bridge])('is taken by every action: %j', async (more) => {
    const { status, body } = await lend({ order: 8 }, more)
    expect([status, body.metadata]).toEqual([201, { order: 8 }])
  })

  test('is absent when none was given', async () => {
    expect((await lend(undefined)).body).not.toHaveProperty('metadata')
  })

  test('may have 4,096 bytes, and not one more', async () => {
    const text = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
    expect((await lend(text(4_096))).status).toBe(201)
    const { status, body } = await lend(text(4_097))
    expect(status).toBe(400)
    expect(body.details).toMatchObject({
      issues: [{ path: 'metadata', message: 'metadata is larger than 4 kB.' }],
    })
  })

  test.each([
    ['null', null],
    ['a list', []],
    ['text', 'x'],
    ['six levels', nested(6)],
    ['NUL', { a: '\0' }],
    ['a lone surrogate', { a: '\ud800' }],
  ])('error: INVALID_REQUEST for %s, and nothing is stored or charged', async (_what, metadata) => {
    const before = await intents()
    const { status, body, headers } = await lend(metadata)
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details.issues).toEqual([{ path: 'metadata', message: expect.any(String) }])
    expect([headers.get('x-credits-charged'), await intents()]).toEqual(['0', before])
  })
})

describe('metadata.simulate', () => {
  const refused = (message: string) => ({
    status: 400,
    body: {
      error: 'INVALID_REQUEST',
      details: {
        issues: [{ path: 'metadata.simulate', message: expect.stringContaining(message) }],
      },
    },
  })

  test.each([
    ['BRIDGE_FAILED', bridge],
    ['BRIDGE_TIMEOUT', {}],
    ['SWAP_FAILED', { chain: 'ethereum' }],
    ['DEPOSIT_FAILED', { chain: 'arbitrum' }],
    ['WITHDRAW_FAILED', withdraw],
    ['NETWORK_ERROR', withdraw],
    ['RPC_ERROR', {}],
  ])('%s is accepted where a step can fail so: %j', async (simulate, more) => {
    const { status, body } = await lend({ simulate }, more)
    expect([status, body.status, body.metadata]).toEqual([201, 'planning', { simulate }])
  })

  test('INSUFFICIENT_FUNDS is found late: the intent is stored without a plan', async () => {
    const { status, body } = await lend({ simulate: 'INSUFFICIENT_FUNDS' })
    expect([status, body.status]).toEqual([201, 'pending'])
    expect(body).not.toHaveProperty('executionPlan')
  })

  test.each(['', '?dryRun=true'])(
    'error: INVALID_REQUEST for what is no failure, and nothing is stored: POST%s',
    async (query) => {
      const before = await intents()
      for (const simulate of ['INTERNAL', 'bridge_failed', '', 1, null, true]) {
        const answer = await lend({ simulate }, {}, query)
        expect(answer).toMatchObject(refused('must be one of BRIDGE_FAILED'))
        expect(answer.headers.get('x-credits-charged')).toBe('0')
      }
      expect(await intents()).toBe(before)
    },
  )

  test.each([
    ['BRIDGE_FAILED', { chain: 'arbitrum' }, 'bridge'],
    ['BRIDGE_TIMEOUT', withdraw, 'bridge'],
    ['SWAP_FAILED', {}, 'swap'],
    ['DEPOSIT_FAILED', bridge, 'deposit'],
    ['WITHDRAW_FAILED', bridge, 'withdraw'],
  ])('error: INVALID_REQUEST for %s where %j has no such step', async (simulate, more, type) => {
    const before = await intents()
    for (const query of ['', '?dryRun=true']) {
      const answer = await lend({ simulate }, more, query)
      expect(answer).toMatchObject(refused(`the plan has no ${type} step`))
    }
    expect(await intents()).toBe(before)
  })
})
