import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import { keepRequestPartitions, recordRequests } from '../../../db/usage/requests.js'
import { listRequests } from '../../../db/usage/listRequests.js'
import { findAnything } from '../../../db/usage/search.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { createPartition, day, entry, idAt, nameOf } from './requestRows.js'

let database: TestDatabase
/** With the permissions of the API only. */
let api: Db

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 4)
  // The day may have changed since the tables were created.
  const worker = connect(database.urlAs('steward_worker'), 1)
  await keepRequestPartitions(worker)
  await worker.destroy()
})
afterAll(async () => {
  await api.destroy()
  await database.drop()
})

const newAccount = async () => (await createAccount(database.db, { name: 'x', plan: 'pro' })).id

const idsOf = async (accountId: string, filter = {}, slice = { limit: 100 }) =>
  (await listRequests(api, accountId, { ...filter, slice })).map(({ id }) => id)

describe('listRequests over many days', () => {
  const ages = [-29, -12, -12, -3, -1.5, -1, 0, 0]
  let account: string
  /** Newest first. */
  let ids: string[]

  beforeAll(async () => {
    for (const days of [-12, -20]) await createPartition(database.db, days)
    account = await newAccount()
    const entries = ages.map((age) => {
      const at = day(age)
      return entry(account, { id: idAt(at), at })
    })
    await recordRequests(api, entries)
    ids = entries
      .map(({ id }) => id)
      .sort()
      .reverse()
  })

  test.each([1, 2, 3, 100])('pages of %d continue over all days', async (limit) => {
    const read: string[] = []
    for (;;) {
      const before = read.at(-1)
      const page = await idsOf(account, {}, { limit, ...(before && { before }) })
      read.push(...page.slice(0, limit))
      if (page.length <= limit || read.length > ids.length) break
    }
    expect(read).toEqual(ids)
  })

  test.each([5, 9, 12, 14, 30])(
    'finds a request by the first %d characters of its id',
    async (length) => {
      for (const id of ids) {
        const idPrefix = id.slice(0, length)
        const expected = ids.filter((one) => one.startsWith(idPrefix))
        expect(await idsOf(account, { idPrefix })).toEqual(expected)
      }
    },
  )

  test.each([1, 2, 100])(
    'pages of %d of a path or a caller continue over their days',
    async (limit) => {
      const mine = await newAccount()
      const made = ages.map((age, i) => {
        const at = day(age)
        const [path, method] = [i % 2 ? '/v1/wallets' : '/v1/yields', i % 4 < 2 ? 'GET' : 'POST']
        return entry(mine, { ...{ id: idAt(at), at, path, method }, userId: `user_${i % 3}` })
      })
      await recordRequests(api, made)
      const filters = [
        { path: '/v1/wallets' },
        { path: '/v1/yields', method: 'POST' },
        { callerId: 'user_1' },
        { callerId: 'user_2', path: '/v1/yields' },
        { callerId: 'user_0', method: 'GET', status: [200, 299] },
        { callerId: 'user_0', status: [400, 599] },
        { path: '/v1/intents' },
      ]
      for (const filter of filters) {
        const expected = made
          .filter(
            ({ path, method, userId, status }) =>
              (filter.path ?? path) === path &&
              (filter.method ?? method) === method &&
              (filter.callerId ?? userId) === userId &&
              (filter.status?.[0] ?? 0) <= status,
          )
          .map(({ id }) => id)
          .sort()
          .reverse()
        const read: string[] = []
        for (;;) {
          const before = read.at(-1)
          const page = await idsOf(mine, filter, { limit, ...(before && { before }) })
          read.push(...page.slice(0, limit))
          if (page.length <= limit || read.length > expected.length) break
        }
        expect(read).toEqual(expected)
      }
    },
  )

  test('reads only the days with requests of the path or caller', async () => {
    const mine = await newAccount()
    const at = day(-12)
    const one = entry(mine, { id: idAt(at), at, path: '/v1/positions' })
    await recordRequests(api, [one, entry(mine)])
    const asked: string[] = []
    const note = ({ sql, bindings }: { sql: string; bindings: readonly unknown[] }) =>
      asked.push(database.db.raw(sql.replace(/\$\d+/g, '?'), bindings as string[]).toQuery())
    api.on('query', note)
    expect(await idsOf(mine, { path: '/v1/positions' })).toEqual([one.id])
    expect(await idsOf(mine, { callerId: 'user_9' })).toEqual([])
    api.removeListener('query', note)
    const logs = asked.filter((text) => text.includes('request_log'))
    expect(logs).toHaveLength(1)
    const { rows } = await database.db.raw<{ rows: Record<string, string>[] }>(
      `explain ${logs[0] ?? ''}`,
    )
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(plan).toContain(nameOf(-12))
    for (const other of [0, -1, -20]) expect(plan).not.toContain(nameOf(other))
  })

  test('finds a request by its id, at any age', async () => {
    for (const id of ids) {
      expect(await findAnything(api, account, id)).toEqual([{ kind: 'request', id }])
    }
  })
})
