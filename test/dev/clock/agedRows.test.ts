import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey, isLiveKey } from '../../../db/accounts/accounts.js'
import { ageRows } from '../../../dev/clock/agedRows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../../db/rows.js'

const DAY_MS = 86_400_000
const market = { chain: 'base-sepolia', protocol: 'aave-v3', asset: 'USDC', market: '0x01' }

let database: TestDatabase
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  wallet = await insertTestWallet(database.db)
})

afterAll(() => database.drop())

/** As the owner, without a record. */
const age = (days: number) => ageRows(database.db, days, () => Promise.resolve())

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

/** The times of all rows of a query, newest first, in whole days before now. */
async function agesOf(sql: string): Promise<number[]> {
  const { rows } = await database.db.raw<{ rows: { at: Date }[] }>(`${sql} order by 1 desc`)
  return rows.map(({ at }) => Math.floor((Date.now() - at.getTime()) / DAY_MS))
}

describe('ageRows', () => {
  test('keys expire whose expiry lies within the days', async () => {
    const { db } = database
    const create = (name: string, days: number) =>
      createApiKey(db, wallet.accountId, { name, expiresAt: daysAgo(-days) })
    const [short, long] = [await create('short', 20), await create('long', 40)]

    await age(30)

    expect([await isLiveKey(db, short), await isLiveKey(db, long)]).toEqual([false, true])
  })

  test('rows move to the times of others without a conflict, and partitions with their rows', async () => {
    const { db } = database
    const takenAt = [0, 1, 2].map((days) => daysAgo(days))
    const rates = takenAt.map((taken_at) => ({ ...market, apy_percent: 4, taken_at }))
    await db('yield_snapshot').insert(rates)
    const counts = { requests: 1, errors: 0, credits: 0, caller_id: 'key_a', endpoint: 'GET /a' }
    const days = [0, 1, 2].map((ago) => daysAgo(ago).toISOString().slice(0, 10))
    await db('request_day').insert(
      days.map((day) => ({ ...counts, day, account_id: wallet.accountId })),
    )
    const before = await agesOf('select at from intent_event')

    await age(1)

    expect(await agesOf('select taken_at as at from yield_snapshot')).toEqual([1, 2, 3])
    expect(await agesOf('select at from intent_event')).toEqual(before.map((age) => age + 1))
    const stored = await db('request_day').orderBy('day', 'desc').pluck('day')
    expect(stored.map(String).map((day) => new Date(day).toDateString())).toEqual(
      [1, 2, 3].map((ago) => daysAgo(ago).toDateString()),
    )
  })

  test('times inside stored answers move, and metadata of the caller stays', async () => {
    const { db } = database
    const since = '2026-05-01T10:00:00.250Z'
    const error = { code: 'BRIDGE_TIMEOUT', message: `Late since ${since}.`, since, step: 1 }
    const metadata = JSON.stringify({ due: since })
    const id = await insertTestIntent(db, wallet, 'failed', { error, metadata })

    await age(30)

    const moved = '2026-04-01T10:00:00.250Z'
    expect(await db('intent').where({ id }).first('error', 'metadata')).toEqual({
      error: { ...error, message: `Late since ${moved}.`, since: moved },
      metadata: { due: since },
    })
  })

  test('the account receives the credits of the next month', async () => {
    const { db } = database
    await db('account').update({
      period: Number(new Date().toISOString().slice(0, 7).replace('-', '')),
    })

    await age(31)

    const [balance] = (
      await db.raw<{ rows: { period: number }[] }>(
        `select (renew_credits(a, 'req_next')).period from account a`,
      )
    ).rows
    const { period } = (await db('account').first<{ period: number }>('period')) ?? {}
    expect(period).toBeLessThan(balance?.period ?? 0)
  })

  test('marks of the running service stay', async () => {
    const { db } = database
    const fee = { protocol: 'cctp-v2', from_chain: 'base-sepolia', to_chain: 'arbitrum-sepolia' }
    await db('bridge_fee').insert({ ...fee, fast_millionths: 100 })

    await age(30)

    expect(await agesOf('select read_at as at from bridge_fee')).toEqual([0])
  })
})
