import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect as connectSocket } from 'node:net'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { limitsOf, type Tier } from '../../../domain/tiers.js'
import { startWorld, type ApiResponse, type ApiWorld } from '../api.js'

let world: ApiWorld

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.stop())

type AccountWithKey = { id: string; key: string }

async function newAccount(
  plan: Tier,
  values: Record<string, number> = {},
): Promise<AccountWithKey> {
  const { db } = world.database
  const { id } = await createAccount(db, { name: 'test', plan })
  await set(id, { ...openWindow(), ...values })
  return { id, key: await createApiKey(db, id, { name: 'test' }) }
}

const set = (id: string, values: Record<string, number>) =>
  world.database.db('account').where({ id }).update(values)
/** A new window that lasts for a minute at least: as if the clock had stepped back since it began. */
const openWindow = () => ({ win: Math.floor(Date.now() / 60_000) + 1, win_used: 0 })

const read = ({ key }: AccountWithKey) => world.api.call('GET', '/dashboard/credits', { key })
const create = ({ key }: AccountWithKey, userId: string) =>
  world.api.call('POST', '/v1/wallets', { key, body: { userId } })
const times = <T>(count: number, call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => call(i)))
const header = ({ headers }: ApiResponse, name: string) => Number(headers.get(name) ?? NaN)

/** Wallets without keys, which only count. */
const insertWallets = ({ id }: AccountWithKey, count: number) =>
  world.database.db.raw(
    `insert into wallet (id, account_id, user_id, address, metadata)
     select ? || n, ?, n, ? || n, '{}' from generate_series(1, ?) n`,
    [`${id}_`, id, `${id}_`, count],
  )

describe('Requests per minute', () => {
  test('Free: 100', async () => {
    const account = await newAccount('free', { win_used: 98 })
    const statuses = (await times(3, () => read(account))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 429])
  })

  test('Pro: 1,000', async () => {
    const account = await newAccount('pro', { win_used: 999 })
    const answers = [await read(account), await read(account)]
    expect(answers.map(({ status }) => status)).toEqual([200, 429])
    expect(answers.map((answer) => header(answer, 'x-ratelimit-limit'))).toEqual([1_000, 1_000])
  })

  test('Enterprise: custom', async () => {
    const account = await newAccount('enterprise', { rpm: 3 })
    const statuses = (await times(4, () => read(account))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 200, 429])
  })

  test('a new window begins after the minute', async () => {
    const account = await newAccount('enterprise', { rpm: 1, win: 1, win_used: 1 })
    expect((await read(account)).status).toBe(200)
  })
})

describe('Maximum wallets', () => {
  test('Free: 100, and exceeding the maximum yields 403', async () => {
    const account = await newAccount('free')
    await insertWallets(account, 99)
    expect((await create(account, 'the last')).status).toBe(201)
    expect((await create(account, 'one more')).status).toBe(403)
  })

  test('Pro: 10,000, and exceeding the maximum yields 403', async () => {
    const account = await newAccount('pro')
    await insertWallets(account, 9_999)
    expect((await create(account, 'the last')).status).toBe(201)
    expect((await create(account, 'one more')).status).toBe(403)
  })

  test('Enterprise: unlimited', async () => {
    const account = await newAccount('enterprise')
    await insertWallets(account, 10_001)
    expect((await create(account, 'one more')).status).toBe(201)
  })
})

describe('Credits per month', () => {
  test.each([
    ['Free', 100, 'free'],
    ['Pro', 10_000, 'pro'],
  ] as const)('%s: %d', async (_title, credits, plan) => {
    expect((await read(await newAccount(plan))).body.balance).toBe(credits)
  })

  test('Enterprise: custom', async () => {
    const account = await newAccount('enterprise', { monthly_credits: 123_456 })
    expect((await read(account)).body.balance).toBe(123_456)
  })

  test('they are granted again in the next month', async () => {
    const account = await newAccount('free')
    await create(account, 'alice')
    await set(account.id, { period: 202_001 })
    await create(account, 'bob')
    expect((await read(account)).body.balance).toBe(99)
  })
})

describe('Rate-limit headers', () => {
  test('X-RateLimit-Limit: the maximum of requests per minute', async () => {
    for (const plan of ['free', 'pro', 'enterprise'] as const) {
      const answer = await read(await newAccount(plan))
      expect(header(answer, 'x-ratelimit-limit')).toBe(limitsOf[plan].requestsPerMinute)
    }
  })

  test('X-RateLimit-Remaining: the requests left in the current window', async () => {
    const account = await newAccount('pro', { rpm: 3 })
    const answers = [await read(account), await read(account), await read(account)]
    const remaining = [...answers, await read(account)].map((answer) =>
      header(answer, 'x-ratelimit-remaining'),
    )
    expect(remaining).toEqual([2, 1, 0, 0])
  })

  test('X-RateLimit-Reset: the Unix timestamp of the window reset', async () => {
    const { win, ...used } = openWindow()
    const answer = await read(await newAccount('pro', { win, ...used }))
    expect(header(answer, 'x-ratelimit-reset')).toBe((win + 1) * 60)
  })

  test('Retry-After is sent on 429: the seconds until the window reset', async () => {
    const answer = await read(await newAccount('pro', { win_used: 1_000 }))
    const now = header(answer, 'x-ratelimit-reset') - header(answer, 'retry-after')
    expect(answer.status).toBe(429)
    // A second may end between the two looks at the clock.
    expect(Math.abs(now - Math.floor(Date.now() / 1_000))).toBeLessThanOrEqual(1)
  })

  test('also on the response to a malformed request', async () => {
    const answer = await sendRaw('hello\r\n\r\n')
    expect(answer).toContain('HTTP/1.1 400 Bad Request')
    for (const name of ['Limit', 'Remaining', 'Reset']) {
      expect(answer).toMatch(new RegExp(`\r\nX-RateLimit-${name}: \\d+\r\n`))
    }
  })
})

describe('Credits per call', () => {
  test('a call costs the credits of its row in the table of endpoints', async () => {
    const account = await newAccount('free')
    const { id: walletId } = (await create(account, 'alice')).body
    const body = { walletId, action: 'lend', amount: 1 }
    await world.api.call('POST', '/v1/intents', { key: account.key, body })
    expect((await read(account)).body).toMatchObject({ balance: 94, totalUsed: 6 })
  })
})

function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connectSocket(world.api.port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => (answer += String(chunk)))
    socket.on('close', () => resolve(answer)).on('error', reject)
  })
}
