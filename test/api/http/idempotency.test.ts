import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { chainNames } from '../../../evm/registry.js'
import { silentChains, startChains, type TestChains } from '../../planning/chains.js'
import { countEffects, sendDuplicates } from '../../support/duplicates.js'
import { startApi, startWorld, type ApiResponse, type TestApi, type ApiWorld } from '../api.js'

let chains: TestChains
let world: ApiWorld
/** A second process in all but name: its own pool, on the same database. */
let second: TestApi
let secondDb: Db
let accountId: string
let key: string
let walletId: string

beforeAll(async () => {
  world = await startWorld()
  secondDb = connect(world.database.urlAs('steward_api'), 10)
  const parts = { db: secondDb, temporal: world.temporal.client }
  second = await startApi({ ...parts, ...silentChains() })
})
beforeEach(async () => {
  ;({ accountId, key } = await newAccount())
  walletId = (await post('/v1/wallets', { userId: 'owner' })).body.id
})
afterAll(async () => {
  await second.stop()
  await secondDb.destroy()
  await world.stop()
})

async function newAccount() {
  const { id } = await createAccount(world.database.db, { name: 'test', plan: 'pro' })
  return { accountId: id, key: await createApiKey(world.database.db, id, { name: 'test' }) }
}

type PostOptions = { name?: string; as?: string; api?: TestApi }
const post = (
  path: string,
  body: unknown,
  { name, as = key, api = world.api }: PostOptions = {},
): Promise<ApiResponse> => {
  const headers = name === undefined ? {} : { 'idempotency-key': name }
  return api.call('POST', path, { key: as, body, headers })
}
const lend = (amount = 1) => ({ walletId, action: 'lend', amount })
const isReplay = ({ headers }: ApiResponse) => headers.get('idempotent-replayed') === 'true'
const effects = () => countEffects(world.database.db, accountId)
const usedCredits = async () => {
  const { body } = await world.api.call('GET', '/dashboard/credits', { key })
  return Number(body.totalUsed)
}

describe('the same key and body', () => {
  test.each([
    ['/v1/wallets', () => ({ userId: 'new' }), 1],
    ['/v1/intents', () => lend(), 5],
    ['/v1/demo/fund', () => ({ walletId }), 0],
  ])('%s: the same response, byte by byte, and no second charge', async (path, body, credits) => {
    const before = await usedCredits()
    const first = await post(path, body(), { name: 'one' })
    const again = await post(path, body(), { name: 'one', api: second })
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.text).toBe(first.text)
    expect([isReplay(first), isReplay(again)]).toEqual([false, true])
    expect(again.headers.get('x-credits-charged')).toBe('0')
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect((await usedCredits()) - before).toBe(credits)
  })

  test('the order of fields and explicit defaults do not matter', async () => {
    const first = await post('/v1/wallets', { userId: 'any' }, { name: 'one' })
    const again = await post('/v1/wallets', { metadata: {}, userId: 'any' }, { name: 'one' })
    expect([isReplay(again), again.text]).toEqual([true, first.text])
  })

  test('replays the stored response, not the current state', async () => {
    const first = await post('/v1/intents', lend(), { name: 'one' })
    const failed = { status: 'failed', error: { code: 'DEPOSIT_FAILED', message: 'test' } }
    await world.database.db('intent').where({ id: first.body.id }).update(failed)
    expect((await post('/v1/intents', lend(), { name: 'one' })).text).toBe(first.text)
  })

  test('replays with no credits left', async () => {
    const first = await post('/v1/intents', lend(), { name: 'one' })
    const account = world.database.db('account').where({ id: accountId })
    await account.update({ granted: 0, purchased: 0 })
    expect((await post('/v1/intents', lend(), { name: 'two' })).status).toBe(402)
    const again = await post('/v1/intents', lend(), { name: 'one' })
    expect([again.status, again.text, isReplay(again)]).toEqual([201, first.text, true])
  })

  test('without a key each call is executed', async () => {
    await Promise.all([post('/v1/intents', lend()), post('/v1/intents', lend())])
    expect(await effects()).toEqual({ intents: 2, charges: 2, credits: 10 })
  })
})

describe('a key is kept', () => {
  /** As if all that this account has kept had been kept so much earlier. */
  const age = (time: string) => {
    const { db } = world.database
    const expires_at = db.raw('expires_at - ?::interval', [time])
    return db('idempotency_key').where({ account_id: accountId }).update({ expires_at })
  }

  test.each([
    ['/v1/wallets', () => ({ userId: 'a' }), () => ({ userId: 'b' })],
    ['/v1/demo/fund', () => ({ walletId }), () => ({ walletId })],
  ])('%s: for 30 days, then it is new', async (path, body, another) => {
    const first = await post(path, body(), { name: 'one' })
    await age('29 days')
    expect((await post(path, body(), { name: 'one' })).text).toBe(first.text)
    await age('1 day')
    const later = await post(path, another(), { name: 'one' })
    expect([later.status, isReplay(later)]).toEqual([201, false])
    expect(later.body.id).not.toBe(first.body.id)
    expect((await post(path, another(), { name: 'one' })).text).toBe(later.text)
  })

  test.each(['/v1/intents', '/v1/Intents/'])('%s: for ever', async (path) => {
    const first = await post(path, lend(), { name: 'one' })
    await age('10000 days')
    const again = await post(path, lend(), { name: 'one' })
    expect([isReplay(again), again.text]).toEqual([true, first.text])
    expect(await effects()).toMatchObject({ intents: 1 })
  })
})

describe('a key names one request', () => {
  test('error: INVALID_REQUEST idempotency_key_reused for another body', async () => {
    await post('/v1/intents', lend(1), { name: 'one' })
    const { status, body } = await post('/v1/intents', lend(2), { name: 'one' })
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details.reason).toBe('idempotency_key_reused')
    expect(await effects()).toEqual({ intents: 1, charges: 1, credits: 5 })
  })

  test('of one endpoint', async () => {
    expect((await post('/v1/wallets', { userId: 'a' }, { name: 'one' })).status).toBe(201)
    const other = await post('/v1/intents', lend(), { name: 'one' })
    expect([other.status, isReplay(other)]).toEqual([201, false])
  })

  test.each([
    ['cancel', 200],
    ['retry', 201],
  ])('of one intent: two calls to %s have separate responses', async (verb, status) => {
    const ids = [(await post('/v1/intents', lend())).body.id]
    ids.push((await post('/v1/intents', lend())).body.id)
    if (verb === 'retry') for (const id of ids) await post(`/v1/intents/${id}/cancel`, {})
    const act = (id: string) => post(`/v1/intents/${id}/${verb}`, {}, { name: 'one' })
    const answers = [await act(ids[0] ?? ''), await act(ids[1] ?? '')]
    expect(answers.map((answer) => answer.status)).toEqual([status, status])
    expect(answers.map(isReplay)).toEqual([false, false])
    const about = answers.map(({ body }) => (verb === 'retry' ? body.retryOf : body.id))
    expect(about).toEqual(ids)
    for (const [at, id] of ids.entries()) {
      const again = await act(id)
      expect([isReplay(again), again.text]).toEqual([true, answers[at]?.text])
    }
    const failed = world.database.db('intent').where({ wallet_id: walletId, status: 'failed' })
    expect(await failed).toHaveLength(2)
  })

  test.each(['/v1/intents/', '/V1/INTENTS', '/v1/Intents/'])(
    'of one operation: the spelling %s of its URL replays',
    async (spelling) => {
      const first = await post('/v1/intents', lend(), { name: 'one' })
      const again = await post(spelling, lend(), { name: 'one' })
      expect([isReplay(again), again.text]).toEqual([true, first.text])
      expect(await effects()).toEqual({ intents: 1, charges: 1, credits: 5 })
    },
  )

  test('of one operation: the spelling of an id in its URL does not matter', async () => {
    const { id } = (await post('/v1/intents', lend())).body
    const first = await post(`/v1/intents/${id}/cancel`, {}, { name: 'one' })
    const again = await post(`/v1/intents/${id.replace('i', '%69')}/cancel`, {}, { name: 'one' })
    expect([isReplay(again), again.text]).toEqual([true, first.text])
  })

  test('with its query: a dry run does not replay a real call', async () => {
    await post('/v1/intents', lend(), { name: 'one' })
    const { status, body } = await post('/v1/intents?dryRun=true', lend(), { name: 'one' })
    expect([status, body.details.reason]).toEqual([400, 'idempotency_key_reused'])
  })

  test('of one account', async () => {
    const mine = await post('/v1/wallets', { userId: 'a' }, { name: 'one' })
    const as = (await newAccount()).key
    const theirs = await post('/v1/wallets', { userId: 'a' }, { name: 'one', as })
    expect([theirs.status, isReplay(theirs)]).toEqual([201, false])
    expect(theirs.body.id).not.toBe(mine.body.id)
  })

  test.each(['', 'x'.repeat(256), 'ü', 'tab\there'])(
    'error: INVALID_REQUEST for the header %j',
    async (name) => {
      const { status, body } = await post('/v1/wallets', { userId: 'bad' }, { name })
      expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
      expect(body.details.issues).toEqual([
        { path: 'Idempotency-Key', message: expect.any(String) },
      ])
    },
  )
})

describe('failed calls are not stored', () => {
  test('a call with a 4xx can be repeated and is then executed', async () => {
    const body = { walletId: 'svc_wallet_later', action: 'lend', amount: 1 }
    expect((await post('/v1/intents', body, { name: 'one' })).status).toBe(404)
    const good = await post('/v1/intents', lend(), { name: 'one' })
    expect([good.status, isReplay(good)]).toEqual([201, false])
  })

  test('a call with a 5xx can be repeated and is then executed', async () => {
    await world.database.db('kek').update({ active: false })
    const failed = await post('/v1/wallets', { userId: 'retry' }, { name: 'one' })
    await world.database.db('kek').update({ active: true })
    expect(failed.status).toBe(503)
    const good = await post('/v1/wallets', { userId: 'retry' }, { name: 'one' })
    expect([good.status, isReplay(good)]).toEqual([201, false])
  })
})

describe('concurrent duplicates', () => {
  test('8 over two servers, 4 keys: each key has one effect and 7 replays', async () => {
    const tally = await sendDuplicates({
      ...{ keys: 4, duplicates: 8, concurrency: 2 },
      async send(name, turn) {
        const api = turn % 2 ? world.api : second
        const answer = await post('/v1/intents', lend(), { name, api })
        return { status: answer.status, text: answer.text, replayed: isReplay(answer) }
      },
    })
    expect(new Set(tally.statuses)).toEqual(new Set([201]))
    expect(tally).toMatchObject({ replayed: 4 * 7, differing: 0 })
    expect(await effects()).toEqual({ intents: 4, charges: 4, credits: 20 })
  })

  test('with two bodies: one is executed, the others are rejected', async () => {
    const amounts = Array.from({ length: 8 }, (_, i) => 1 + (i % 2))
    const answers = await Promise.all(
      amounts.map((amount) => post('/v1/intents', lend(amount), { name: 'one' })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(4)
    expect(await effects()).toEqual({ intents: 1, charges: 1, credits: 5 })
  })

  test('the last wallet of the plan: both have it', async () => {
    await world.database.db('account').where({ id: accountId }).update({ max_wallets: 2 })
    const duplicates = Array.from({ length: 8 }, (_, turn) =>
      post('/v1/wallets', { userId: 'last' }, { name: 'one', api: turn % 2 ? world.api : second }),
    )
    const statuses = (await Promise.all(duplicates)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([201]))
  })
})

describe('with money', () => {
  beforeAll(async () => {
    chains = await startChains(chainNames)
  })
  afterAll(() => chains.stop())

  test("a duplicate whose money the first one's own reservation holds replays", async () => {
    const funded = await startApi({ db: world.db, temporal: world.temporal.client, ...chains })
    const other = await startApi({ db: secondDb, temporal: world.temporal.client, ...chains })
    const wallet = await post('/v1/wallets', { userId: 'rich' }, { api: funded })
    await chains.mint('arbitrum-sepolia', String(wallet.body.address), 10_000_000n)
    await chains.index(world.database.db)
    const body = { walletId: wallet.body.id, action: 'lend', amount: 8 }
    const duplicates = Array.from({ length: 8 }, (_, turn) =>
      post('/v1/intents', body, { name: 'all', api: turn % 2 ? funded : other }),
    )
    const answers = await Promise.all(duplicates)
    const more = await post('/v1/intents', body, { name: 'more', api: funded })
    await funded.stop()
    await other.stop()
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
    expect(answers.filter(isReplay)).toHaveLength(7)
    expect([more.status, more.body.error]).toEqual([400, 'INSUFFICIENT_FUNDS'])
    expect(await effects()).toMatchObject({ intents: 1 })
  })
})
