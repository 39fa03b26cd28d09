import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { firstIdAt, newId } from '../../../db/client/ids.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import {
  keepRequestPartitions,
  pruneRequestDays,
  recordRequests,
} from '../../../db/usage/requests.js'
import { listRequests } from '../../../db/usage/listRequests.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { createPartition, day, entry, idAt, nameOf } from './requestRows.js'

let database: TestDatabase
/** With the permissions of the API, and of the worker, only. */
let api: Db
let worker: Db

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 4)
  worker = connect(database.urlAs('steward_worker'), 1)
  // The day may have changed since the tables were created.
  await keepRequestPartitions(worker)
})
afterAll(async () => {
  await Promise.all([api.destroy(), worker.destroy()])
  await database.drop()
})

const newAccount = async () => (await createAccount(database.db, { name: 'x', plan: 'pro' })).id

const sumsOf = (accountId: string): Promise<Record<string, unknown>[]> =>
  database.db('request_day').where({ account_id: accountId }).orderBy(['day', 'endpoint'])
const idsOf = async (accountId: string, filter = {}, slice = { limit: 100 }) =>
  (await listRequests(api, accountId, { ...filter, slice })).map(({ id }) => id)

describe('recordRequests', () => {
  test('stores and counts a repeated batch once', async () => {
    const account = await newAccount()
    const entries = Array.from({ length: 20 }, () => entry(account))
    await recordRequests(api, entries)
    await recordRequests(api, entries)
    expect(await idsOf(account)).toHaveLength(20)
    expect(await sumsOf(account)).toMatchObject([{ requests: 20n, errors: 0n, credits: 20n }])
  })

  test('8 concurrent processes: the sums match the rows', async () => {
    const account = await newAccount()
    const paths = ['/v1/wallets', '/v1/intents', '/v1/yields']
    const batch = () =>
      Array.from({ length: 90 }, (_, turn) =>
        entry(account, { path: paths[turn % 3] ?? '', status: turn % 9 === 0 ? 404 : 200 }),
      ).sort(() => Math.random() - 0.5)
    const pools = Array.from({ length: 8 }, () => connect(database.urlAs('steward_api'), 1))
    await Promise.all(pools.map((pool) => recordRequests(pool, batch())))
    await Promise.all(pools.map((pool) => pool.destroy()))
    const sums = await sumsOf(account)
    expect(sums.map(({ requests, errors }) => [requests, errors])).toEqual(
      Array(3).fill([240n, expect.anything()]),
    )
    expect(sums.reduce((sum, { errors }) => sum + (errors as bigint), 0n)).toBe(80n)
  })

  test('an account sees only its own rows and sums, even in a query without a condition', async () => {
    const [mine, theirs] = [await newAccount(), await newAccount()]
    await recordRequests(api, [entry(mine), entry(theirs)])
    expect(await idsOf(mine)).toHaveLength(1)
    for (const table of ['request_log', 'request_day']) {
      const seen = await api.transaction(async (trx) => {
        await trx.raw(`select set_config('app.account', ?, true)`, [mine])
        return trx(table).pluck<string[]>('account_id')
      })
      expect(new Set(seen)).toEqual(new Set([mine]))
      expect(await api(table)).toEqual([])
    }
  })
})

describe('keepRequestPartitions', () => {
  const partitions = async (): Promise<string[]> => {
    const { rows } = await database.db.raw<{ rows: { name: string }[] }>(
      `select inhrelid::regclass::text as name from pg_inherits
       where inhparent = 'request_log'::regclass order by 1`,
    )
    return rows.map(({ name }) => name)
  }
  const countIn = async (table: string, accountId: string) =>
    database.db(table).where({ account_id: accountId }).pluck<string[]>('id')

  test('exist for the coming days, and rows without one are kept and moved', async () => {
    const account = await newAccount()
    await database.db.raw(`drop table ${nameOf(2)}`)
    await recordRequests(api, [entry(account, { at: day(2) }), entry(account, { at: day(0) })])
    expect(await countIn('request_log_default', account)).toHaveLength(1)
    expect(await keepRequestPartitions(worker)).toMatchObject({ made: 1 })
    expect(await countIn('request_log_default', account)).toEqual([])
    expect(await countIn(nameOf(2), account)).toHaveLength(1)
    expect(await idsOf(account)).toHaveLength(2)
    expect(await partitions()).toEqual(expect.arrayContaining([0, 1, 2, 3].map(nameOf)))
    expect(await keepRequestPartitions(worker)).toEqual({ made: 0, dropped: 0 })
  })

  test('are dropped after 30 days, and no others', async () => {
    const account = await newAccount()
    for (const days of [-30, -31, -32]) await createPartition(database.db, days)
    const ages = [0, -30, -31, -32, -40]
    await recordRequests(
      api,
      ages.map((days) => entry(account, { at: day(days) })),
    )
    expect(await idsOf(account)).toHaveLength(5)
    expect(await keepRequestPartitions(worker)).toMatchObject({ dropped: 3 })
    expect(await idsOf(account)).toHaveLength(2)
    expect(await partitions()).toContain(nameOf(-30))
    expect(await partitions()).not.toContain(nameOf(-31))
    expect(await sumsOf(account)).toHaveLength(5)
  })
})

describe('pruneRequestDays', () => {
  test('deletes sums older than 400 days in batches, the oldest first, and no others', async () => {
    const [mine, theirs] = [await newAccount(), await newAccount()]
    const at = (days: number) => entry(days % 2 ? mine : theirs, { at: day(days) })
    const ages = [-403, -402, -401, -400, -399, 0]
    await recordRequests(api, ages.map(at))
    await recordRequests(api, ages.map(at))
    const left = async () => (await sumsOf(mine)).length + (await sumsOf(theirs)).length
    expect(await left()).toBe(6)
    expect(await pruneRequestDays(worker, 2)).toBe(2)
    const oldest = database
      .db('request_day')
      .min('day as day')
      .whereIn('account_id', [mine, theirs])
    const { rows } = await database.db.raw<{ rows: [{ days: number }] }>(
      `select (now() at time zone 'UTC')::date - (?) as days`,
      [oldest],
    )
    expect(rows[0].days).toBe(401)
    expect(await pruneRequestDays(worker, 1_000)).toBe(1)
    expect(await pruneRequestDays(worker, 1_000)).toBe(0)
    expect(await left()).toBe(3)
  })
})

describe('listRequests with 100,000 requests of an earlier day', () => {
  let account: string
  const walletId = newId('svc_wallet_')
  const intentId = newId('intent_')
  const yesterday = day(-1)
  const found = idAt(yesterday)

  beforeAll(async () => {
    account = await newAccount()
    const other = await newAccount()
    await createPartition(database.db, -1)
    const insert = `insert into request_log
      select case when n % 11 = 0 then ? else ? end, ? || lpad(n::text, 10, '0'),
        now() - interval '1 day', 'key_1', 'GET', '/v1/wallets/:userId',
        'svc_wallet_' || md5(n::text), null, case when n % 500 = 0 then 500 else 200 end, null, 1, 3
      from generate_series(?::int, ?::int) n`
    for (let from = 1; from < 110_000; from += 5_000) {
      const range = [from, from + 4_999]
      await database.db.raw(insert, [
        other,
        account,
        firstIdAt('req_', yesterday.getTime()).slice(0, 20),
        ...range,
      ])
    }
    const rare = { walletId, resourceId: intentId, status: 404, code: 'INTENT_NOT_FOUND' }
    const one = entry(account, { ...rare, id: found, at: yesterday, method: 'POST' })
    await recordRequests(api, [one])
    await database.db.raw('analyze request_log, request_day')
  }, 120_000)

  /** The executed statement, with EXPLAIN. */
  async function explain(run: (db: Db) => Promise<unknown>): Promise<string> {
    const sent: { sql: string; bindings: readonly unknown[] }[] = []
    const note = (query: { sql: string; bindings: readonly unknown[] }) => sent.push(query)
    api.on('query', note)
    await run(api)
    api.removeListener('query', note)
    const [{ sql = '', bindings = [] } = {}] = sent
    const text = sql.replace(/\$\d+/g, '?')
    const { rows } = await api.raw<{ rows: Record<string, string>[] }>(`explain ${text}`, [
      ...(bindings as string[]),
    ])
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }

  test.each([
    ['all', {}, 101],
    ['requests of a wallet', { walletId }, 1],
    ['requests of an intent', { resourceId: intentId }, 1],
    ['a request by its id', { idPrefix: found }, 1],
    ['requests by the beginning of an id', { idPrefix: found.slice(0, 20) }, 1],
    ['failed requests', { status: [400, 599] }, 101],
    ['requests with a code', { status: [404, 404], code: 'INTENT_NOT_FOUND' }, 1],
  ] as const)('%s: uses an index', async (_title, filter, count) => {
    const slice = { limit: 100 }
    const rows = await listRequests(api, account, { ...filter, slice })
    expect(rows.length).toBeGreaterThanOrEqual(count)
    const plan = await explain((db) => listRequests(db, account, { ...filter, slice }))
    // Partitions of other days are empty, so their plan has no index.
    expect(plan).not.toContain(`Seq Scan on ${nameOf(-1)}`)
    expect(plan).toMatch(
      new RegExp(`Index Scan .*on ${nameOf(-1)}|Bitmap Heap Scan on ${nameOf(-1)}`),
    )
  })

  test('a full page reads no older day', async () => {
    const plan = await explain((db) => listRequests(db, account, { slice: { limit: 50 } }))
    expect(plan).toContain(nameOf(-1))
    expect(plan).not.toContain(nameOf(-30))
  })

  test('a page continues where the previous one ended', async () => {
    const first = await listRequests(api, account, { slice: { limit: 50 } })
    const before = first[49]?.id ?? ''
    const next = await listRequests(api, account, { slice: { limit: 50, before } })
    const ids = [...first.slice(0, 50), ...next].map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort().reverse())
    expect(next[0]?.id).toBe(first[50]?.id)
  })
})
