import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { firstIdAt, newId } from '../../../../db/client/ids.js'
import { listIntents } from '../../../../db/intents/listIntents.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../../../db/rows.js'
import { startWorld, type ApiWorld } from '../../api.js'
import type { LifecycleStatus } from '../../../../domain/intent/intent.js'

const hour = 3_600_000
const start = Date.parse('2026-05-01T00:00:00.000Z')

let world: ApiWorld
let wallet: TestWallet
let key: string
/** One of each, an hour after the other. */
const ids: string[] = []

beforeAll(async () => {
  world = await startWorld()
  const { db } = world.database
  wallet = await insertTestWallet(db)
  key = await createApiKey(db, wallet.accountId, { name: 'test' })
  const statuses: LifecycleStatus[] = ['pending', 'planning', 'executing', 'completed', 'failed']
  for (const [i, status] of statuses.entries()) ids.push(await insertAt(start + i * hour, status))
})
afterAll(() => world.stop())

/** An intent as it would be, had it been made then. */
async function insertAt(ms: number, status: LifecycleStatus): Promise<string> {
  const id = firstIdAt('intent_', ms).slice(0, 17) + newId('').slice(10)
  const created_at = new Date(ms)
  await insertTestIntent(world.database.db, wallet, status, { id, created_at })
  return id
}
const list = (query: string) => world.api.call('GET', `/v1/intents?${query}`, { key })
const listed = async (query: string) => {
  const { body } = await list(query)
  return (body.data as { id: string }[]).map(({ id }) => ids.indexOf(id))
}

describe('GET /v1/intents: status', () => {
  test.each([
    ['status=failed', [4]],
    ['status=failed,completed', [4, 3]],
    ['status=completed&status=pending', [3, 0]],
    ['status=failed,pending&status=pending', [4, 0]],
    ['', [4, 3, 2, 1, 0]],
  ])('%s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected)
  })

  test('a page goes on with the same ones', async () => {
    const first = await list('status=failed,completed&limit=1')
    const cursor = String(first.body.nextCursor)
    expect(await listed(`status=failed,completed&limit=1&cursor=${cursor}`)).toEqual([3])
  })

  test.each([
    'status=',
    'status=gone',
    'status=failed,',
    'status=failed,gone',
    'status=failed&status=gone',
  ])('error: INVALID_REQUEST for %s, by the name of the field', async (query) => {
    const { status, body } = await list(query)
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    const message =
      'status must be `pending` or `planning` or `executing` or `completed` or `failed`.'
    expect(body.details).toMatchObject({ issues: [{ path: 'status', message }] })
  })
})

describe('GET /v1/intents: a span of time', () => {
  const at = (hours: number) => new Date(start + hours * hour).toISOString()

  test.each([
    [`createdAfter=${at(2)}`, [4, 3]],
    [`createdBefore=${at(2)}`, [1, 0]],
    [`createdAfter=${at(0)}&createdBefore=${at(4)}`, [3, 2, 1]],
    [`createdAfter=${at(0)}&createdBefore=${at(4)}&status=completed,failed`, [3]],
    ['createdAfter=2026-05-01T04:30:00%2B02:00', [4, 3]],
    ['createdAfter=1969-01-01T00:00:00Z', [4, 3, 2, 1, 0]],
    ['createdBefore=9999-12-31T00:00:00Z', [4, 3, 2, 1, 0]],
  ])('%s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected)
  })

  test.each(['yesterday', '2026-05-01', '2026-05-01T00:00:00'])(
    'error: INVALID_REQUEST for the time %s',
    async (time) => {
      const { status, body } = await list(`createdAfter=${time}`)
      expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
      expect(body.details).toMatchObject({ issues: [{ path: 'createdAfter' }] })
    },
  )
})

describe('GET /v1/intents: user and failure code', () => {
  beforeAll(async () => {
    const { db } = world.database
    const id = newId('svc_wallet_')
    const row = { id, account_id: wallet.accountId, user_id: 'bob', address: '0xb', metadata: '{}' }
    await db('wallet').insert(row)
    ids.push(await insertTestIntent(db, { ...wallet, id }, 'completed'))
  })

  test.each([
    ['userId=user', [4, 3, 2, 1, 0]],
    ['userId=user&status=failed', [4]],
    ['userId=bob', [5]],
    ['userId=carol', []],
    ['errorCode=DEPOSIT_FAILED', [4]],
    ['errorCode=CANCELLED', []],
    ['errorCode=CANCELLED&userId=bob', []],
    [`walletId=svc_wallet_x&userId=user`, []],
  ])('%s', async (query, expected) => {
    expect(await listed(query)).toEqual(expected)
  })

  test('a user of another account has no intents here', async () => {
    const { db } = world.database
    const other = await insertTestWallet(db)
    await db('wallet').where({ id: other.id }).update({ user_id: 'theirs' })
    await insertTestIntent(db, other, 'failed')
    expect(await listed('userId=theirs')).toEqual([])
  })

  test.each(['errorCode=GONE', 'errorCode=', 'errorCode=CANCELLED&errorCode=GONE'])(
    'error: INVALID_REQUEST for %s, with the known codes',
    async (query) => {
      const { status, body } = await list(query)
      expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
      expect(body.details).toMatchObject({ issues: [{ path: 'errorCode' }] })
      expect(body.message).toContain('DEPOSIT_FAILED')
    },
  )
})

describe('listIntents among very many', () => {
  const many = 20_000

  /** Rows that a statement has to look at. */
  async function lookedAt(filter: object): Promise<number> {
    const { db } = world.database
    const seen: { sql: string; bindings: readonly unknown[] }[] = []
    const note = (query: { sql: string; bindings?: unknown[] }) =>
      void seen.push({ sql: query.sql, bindings: query.bindings ?? [] })
    db.on('query', note)
    const all = { walletId: undefined, statuses: undefined, action: undefined }
    const span = { createdAfter: undefined, createdBefore: undefined }
    const slice = { limit: 20 }
    await listIntents(db, wallet.accountId, { ...all, ...span, ...filter, slice })
    db.removeListener('query', note)
    const [query] = seen
    const explained = await db.raw<{ rows: [{ 'QUERY PLAN': [{ Plan: Plan }] }] }>(
      `explain (analyze, format json) ${query?.sql.replace(/\$\d+/g, '?') ?? ''}`,
      [...(query?.bindings ?? [])] as never,
    )
    return mostRows(explained.rows[0]['QUERY PLAN'][0].Plan)
  }
  type Plan = Record<string, unknown> & { Plans?: Plan[] }
  const mostRows = (plan: Plan): number => {
    const own = Number(plan['Actual Rows'] ?? 0) + Number(plan['Rows Removed by Filter'] ?? 0)
    return Math.max(own, ...(plan.Plans ?? []).map(mostRows))
  }

  beforeAll(async () => {
    const { db } = world.database
    // One in an hour, the newest first; all of them failed.
    const rows = Array.from({ length: many }, (_, i) => {
      const ms = start - (i + 1) * hour
      const id = firstIdAt('intent_', ms)
      const error = JSON.stringify({ code: 'CANCELLED', message: 'test' })
      return {
        ...{ id, account_id: wallet.accountId, wallet_id: wallet.id, action: 'lend' },
        ...{ asset: 'USDC', units: '1', status: 'failed', request_id: 'req_test', error },
        created_at: new Date(ms),
      }
    })
    await db.batchInsert('intent', rows, 1_000)
    await db.raw('analyze intent')
  })

  test.each([
    ['the newest', {}],
    ['a status that few have', { statuses: ['completed'] }],
    ['statuses that few have', { statuses: ['completed', 'executing'] }],
    ['a failure code that few have', { errorCode: 'DEPOSIT_FAILED' }],
    ['a failure code that all have', { errorCode: 'CANCELLED' }],
    ['a failure code that none has', { errorCode: 'SWAP_FAILED' }],
    ['a user that has few', { userId: 'bob' }],
    ['a user that has most', { userId: 'user' }],
    ['an unknown user', { userId: 'carol' }],
    ['long ago', { createdBefore: new Date(start - 15_000 * hour) }],
    [
      'a day long ago',
      {
        createdAfter: new Date(start - 15_024 * hour),
        createdBefore: new Date(start - 15_000 * hour),
      },
    ],
  ])('%s: looks at few rows only', async (_what, filter) => {
    expect(await lookedAt(filter)).toBeLessThan(200)
  })
})
