import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createAccount,
  createApiKey,
  resumeAccount,
  suspendAccount,
} from '../../../db/accounts/accounts.js'
import { connect } from '../../../db/client/connect.js'
import { closedUrl, silentChains } from '../../planning/chains.js'
import { startApi, startWorld, type ApiResponse, type ApiWorld } from '../api.js'

const order = { by: 'alice', why: 'an unpaid bill' }
let world: ApiWorld
let accountId: string
let key: string
/** An account without anything left. */
let poorKey: string

beforeAll(async () => {
  world = await startWorld()
})
beforeEach(async () => {
  ;({ accountId, key } = await newAccount())
  poorKey = (await newAccount({ monthly_credits: 0 })).key
})
afterAll(() => world.stop())

async function newAccount(values: Record<string, unknown> = {}) {
  const { db } = world.database
  const { id } = await createAccount(db, { name: 'test', plan: 'free' })
  await db('account')
    .where({ id })
    .update({ rpm: 100, ...values })
  return { accountId: id, key: await createApiKey(db, id, { name: 'test' }) }
}

const setAccount = (values: object) =>
  world.database.db('account').where({ id: accountId }).update(values)
/** As if the clock had stepped back since: a window that lasts for at least a minute more. */
const nextMinute = () => Math.floor(Date.now() / 60_000) + 1

const get = (path: string, as = key) => world.api.call('GET', path, { key: as })
const createWallet = (userId: string, as = key) =>
  world.api.call('POST', '/v1/wallets', { key: as, body: { userId } })
const used = async (id = accountId) => {
  const row = await world.database.db('account').where({ id }).first<{ total_used: bigint }>()
  return Number(row.total_used)
}

const numbers = ({ headers }: ApiResponse, ...names: string[]) =>
  names.map((name) => (headers.has(name) ? Number(headers.get(name)) : undefined))

/** Every response has the rate limit headers, and they agree on the end of the window. */
function expectRateLimit(answer: ApiResponse): void {
  const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
  const [limit, remaining, reset] = numbers(answer, ...names) as [number, number, number]
  expect(limit).toBeGreaterThan(0)
  expect(remaining).toBeGreaterThanOrEqual(0)
  expect(remaining).toBeLessThanOrEqual(limit)
  expect(reset % 60).toBe(0)
}

describe('X-RateLimit headers', () => {
  test('are on responses of every kind', async () => {
    await createWallet('known')
    const answers = {
      200: await get('/v1/wallets/known'),
      201: await createWallet('new'),
      400: await world.api.call('POST', '/v1/wallets', { key, raw: '{' }),
      401: await get('/v1/wallets/known', 'svc_sk_123'),
      402: await get('/v1/wallets/known', poorKey),
      404: await get('/v1/wallets/unknown'),
    }
    for (const [status, answer] of Object.entries(answers)) {
      expect(answer.status).toBe(Number(status))
      expectRateLimit(answer)
    }
    for (const path of ['/v1/nothing', '/v1/wallets/%E0%A4%A', '/dashboard/credits']) {
      expectRateLimit(await get(path))
    }
  })

  test('are on 500, and nothing is charged', async () => {
    const silent = silentChains()
    const registry = {
      ...silent.registry,
      get chains(): never {
        throw new Error('broken')
      },
    }
    await createWallet('known')
    const temporal = world.temporal.client
    const broken = await startApi({ db: world.db, temporal, ...silent, registry })
    const read = await broken.call('GET', '/v1/wallets/known', { key })
    const write = await broken.call('POST', '/v1/wallets', { key, body: { userId: 'x' } })
    await broken.stop()
    for (const answer of [read, write]) {
      expect(answer.status).toBe(500)
      expectRateLimit(answer)
      expect(answer.headers.get('x-credits-charged')).toBe('0')
    }
    expect(await used()).toBe(1)
  })

  test('are on 503 without a database', async () => {
    const db = connect(closedUrl.replace('http', 'postgres'), 1)
    const api = await startApi({ db, temporal: world.temporal.client, ...silentChains() })
    const answer = await api.call('GET', '/v1/wallets/known', { key })
    await api.stop()
    await db.destroy()
    expect(answer.status).toBe(503)
    expectRateLimit(answer)
    expect(answer.headers.get('retry-after')).toBe('1')
  })

  test('count down within a window', async () => {
    await setAccount({ win: nextMinute(), win_used: 97 })
    const remaining = []
    for (let call = 0; call < 4; call++) {
      remaining.push(...numbers(await get('/v1/wallets/unknown'), 'x-ratelimit-remaining'))
    }
    expect(remaining).toEqual([2, 1, 0, 0])
  })
})

describe('error: RATE_LIMITED', () => {
  test('details and headers agree', async () => {
    const win = nextMinute()
    await setAccount({ win, win_used: 100 })
    for (const answer of [await get('/v1/wallets/x'), await createWallet('x')]) {
      expect([answer.status, answer.body.error]).toEqual([429, 'RATE_LIMITED'])
      expectRateLimit(answer)
      const { limit, window, retryAfter } = answer.body.details
      expect([limit, window]).toEqual([100, '1 minute'])
      expect(answer.headers.get('retry-after')).toBe(String(retryAfter))
      expect(retryAfter).toBeGreaterThanOrEqual(1)
      expect(answer.headers.get('x-ratelimit-limit')).toBe('100')
      expect(answer.headers.get('x-ratelimit-remaining')).toBe('0')
      expect(answer.headers.get('x-ratelimit-reset')).toBe(String((win + 1) * 60))
      // The clocks of the service and of this test are one here; a second may end between the two looks.
      const wait = (win + 1) * 60 - Math.floor(Date.now() / 1000)
      expect([wait, wait + 1]).toContain(retryAfter)
    }
    expect(await used()).toBe(0)
  })

  test('comes before the checks of scope, path and body', async () => {
    await setAccount({ win: nextMinute(), win_used: 100 })
    const answers = [
      await world.api.call('POST', '/v1/intents', { key, raw: '{' }),
      await get('/v1/unknown'),
      await get('/v1/wallets/%E0%A4%A'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 429])
  })
})

describe('requests without a valid key', () => {
  test('share a limit by address that does not lock out known keys', async () => {
    const api = await startApi({
      db: world.db,
      temporal: world.temporal.client,
      ...silentChains(),
      authFailureLimit: 20,
    })
    await api.call('GET', '/dashboard/credits', { key })
    const statuses = new Set<number>()
    // More than the limits of two minutes, one of which may begin meanwhile.
    for (let round = 0; round < 5; round++) {
      const calls = Array.from({ length: 10 }, () => api.call('GET', '/v1/wallets/x'))
      for (const answer of await Promise.all(calls)) {
        statuses.add(answer.status)
        expectRateLimit(answer)
      }
    }
    expect([...statuses]).toEqual([401, 429])
    expect((await api.call('GET', '/dashboard/credits', { key })).status).toBe(200)
    await api.stop()
  })
})

describe('credits', () => {
  const credits = (answer: ApiResponse) =>
    numbers(answer, 'x-credits-charged', 'x-credits-remaining')

  test('headers show the cost of a call and the credits left', async () => {
    expect(credits(await createWallet('paid'))).toEqual([1, 99])
    expect(credits(await get('/v1/wallets/paid'))).toEqual([1, 98])
    expect(credits(await get('/dashboard/credits'))).toEqual([0, 98])
    expect(credits(await get('/v1/unknown'))).toEqual([0, 98])
    expect((await get('/dashboard/credits')).body).toMatchObject({ balance: 98, totalUsed: 2 })
  })

  test('a response that is not 2xx is free', async () => {
    const answers = [
      await get('/v1/wallets/unknown'),
      await get('/v1/wallets/%00'),
      await get('/v1/intents/intent_none'),
      await get('/v1/balances/svc_wallet_none'),
      await world.api.call('POST', '/v1/wallets', { key, body: { userId: 1 } }),
      await world.api.call('POST', '/v1/intents', {
        ...{ key, body: { walletId: 'none', action: 'lend', amount: 1 } },
      }),
      await get('/v1/wallets?limit=x'),
    ]
    for (const answer of answers) {
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.headers.get('x-credits-charged')).toBe('0')
    }
    expect((await get('/dashboard/credits')).body).toMatchObject({ balance: 100, totalUsed: 0 })
  })

  test('error: INSUFFICIENT_CREDITS at the call that the balance does not cover', async () => {
    await setAccount({ monthly_credits: 7 })
    const wallet = await createWallet('owner')
    const body = { walletId: wallet.body.id, action: 'lend', amount: 1 }
    const post = () => world.api.call('POST', '/v1/intents', { key, body })
    expect(credits(await post())).toEqual([5, 1])
    const refused = await post()
    expect([refused.status, refused.body.error]).toEqual([402, 'INSUFFICIENT_CREDITS'])
    expect(refused.body.details).toMatchObject({ required: 5, available: 1 })
    expect(refused.headers.has('retry-after')).toBe(false)
    expect(credits(refused)).toEqual([0, 1])
    expect(await world.database.db('intent').where({ account_id: accountId })).toHaveLength(1)
    expect(credits(await get('/v1/wallets/owner'))).toEqual([1, 0])
    expect((await get('/v1/wallets/owner')).status).toBe(402)
    expect((await get('/dashboard/credits')).body).toMatchObject({ balance: 0, totalUsed: 7 })
  })

  test('a rejection shows the credits left too: 402, 403 and 429', async () => {
    const scopes = ['write' as const]
    const writer = await createApiKey(world.database.db, accountId, { name: 'scoped', scopes })
    await setAccount({ max_wallets: 1 })
    await createWallet('only')
    const refusals: [status: number, remaining: number, answer: ApiResponse][] = [
      [402, 0, await get('/v1/wallets/only', poorKey)],
      [402, 0, await createWallet('only', poorKey)],
      [403, 99, await get('/v1/wallets/only', writer)],
      [403, 99, await createWallet('other')],
    ]
    await suspendAccount(world.database.db, accountId, order)
    refusals.push([403, 99, await get('/v1/wallets/only')], [403, 99, await createWallet('other')])
    await setAccount({ win: nextMinute(), win_used: 100 })
    refusals.push([429, 99, await get('/v1/wallets/only')])
    const shown = refusals.map(([, , answer]) => [answer.status, ...credits(answer)])
    expect(shown).toEqual(refusals.map(([status, remaining]) => [status, 0, remaining]))
  })

  test('12 wallets at once for 5 credits: five are created', async () => {
    await setAccount({ monthly_credits: 5 })
    const calls = Array.from({ length: 12 }, (_, i) => createWallet(`user ${i}`))
    const statuses = (await Promise.all(calls)).map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array<number>(5).fill(201), ...Array<number>(7).fill(402)])
    expect(await world.database.db('wallet').where({ account_id: accountId })).toHaveLength(5)
  })
})

describe('error: WALLET_LIMIT_EXCEEDED', () => {
  test('32 at once with ten left: ten are created and charged', async () => {
    await setAccount({ max_wallets: 10 })
    const calls = Array.from({ length: 32 }, (_, i) => createWallet(`user ${i}`))
    const answers = await Promise.all(calls)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
    const refused = answers.filter(({ status }) => status === 403)
    expect(refused).toHaveLength(22)
    expect(refused[0]?.body).toMatchObject({
      ...{ error: 'WALLET_LIMIT_EXCEEDED', details: { limit: 10 } },
    })
    expect(await world.database.db('wallet').where({ account_id: accountId })).toHaveLength(10)
    expect(await used()).toBe(10)
  })

  test('an existing wallet is still returned', async () => {
    await setAccount({ max_wallets: 1 })
    expect((await createWallet('only')).status).toBe(201)
    expect((await createWallet('only')).status).toBe(200)
    expect((await createWallet('other')).status).toBe(403)
  })
})

describe('error: FORBIDDEN', () => {
  test('a suspended account is rejected from its next request on, free of charge, until it is resumed', async () => {
    const { db } = world.database
    expect((await createWallet('before')).status).toBe(201)
    await suspendAccount(db, accountId, order)
    for (const answer of [await createWallet('during'), await get('/v1/wallets/before')]) {
      expect([answer.status, answer.body.error]).toEqual([403, 'FORBIDDEN'])
      expect(answer.body.message).toContain('This account is suspended.')
      expect(answer.headers.get('x-credits-charged')).toBe('0')
      expectRateLimit(answer)
    }
    await resumeAccount(db, accountId, order)
    expect((await get('/v1/wallets/before')).status).toBe(200)
    expect((await get('/v1/wallets/during')).status).toBe(404)
    expect(await used()).toBe(2)
  })

  test('a key may do what its scopes allow, and a rejection is free', async () => {
    const scoped = (scopes: ('read' | 'write')[]) =>
      createApiKey(world.database.db, accountId, { name: 'scoped', scopes })
    const [reader, writer] = [await scoped(['read']), await scoped(['write'])]
    expect((await createWallet('mine', writer)).status).toBe(201)
    expect((await get('/v1/wallets/mine', reader)).status).toBe(200)
    for (const answer of [await createWallet('x', reader), await get('/v1/wallets/mine', writer)]) {
      expect([answer.status, answer.body.error]).toEqual([403, 'FORBIDDEN'])
      expect(answer.headers.get('x-credits-charged')).toBe('0')
      expectRateLimit(answer)
    }
    expect(await used()).toBe(2)
  })
})
