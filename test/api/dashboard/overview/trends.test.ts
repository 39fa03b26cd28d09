import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { trendsAnswer, type TrendsAnswer } from '../../../../api/schemas/activity.js'
import { newId } from '../../../../db/client/ids.js'
import { readTrends } from '../../../../db/usage/trends.js'
import { silentChains } from '../../../planning/chains.js'
import {
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  type TestWallet,
} from '../../../db/rows.js'
import { startWorld, type ApiWorld } from '../../api.js'
import { newPerson, pagesOf, type Person } from '../people.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let world: ApiWorld
let mine: Person
let wallet: TestWallet

beforeAll(async () => {
  world = await startWorld(silentChains())
})
afterAll(() => world.stop())
beforeEach(async () => {
  mine = await newPerson(world, { role: 'viewer' })
  wallet = await newWallet(mine)
})

async function newWallet({ accountId }: Person): Promise<TestWallet> {
  const id = newId('svc_wallet_')
  const row = { id, account_id: accountId, user_id: 'alice', address: id, metadata: '{}' }
  await world.database.db('wallet').insert(row)
  return { id, accountId, address: id, requestId: 'req_test' }
}

type End = { status?: 'completed' | 'failed'; usd?: number; tookMs?: number; cancelled?: boolean }

/** An intent that ended at a time. */
function ended(at: number, { status = 'completed', usd = 1, tookMs = 0, cancelled }: End = {}) {
  const end = new Date(at)
  return insertTestIntent(world.database.db, wallet, status, {
    ...{ units: String(usd * 1e6), ended_at: end, created_at: new Date(at - tookMs) },
    ...(status === 'completed' && { completed_at: end }),
    ...(cancelled && { cancelled_at: end }),
  })
}

/** Gas in USD of an operation that ended at a time. */
async function spent(at: number, gasUsd: string, kind = 'deposit'): Promise<void> {
  const { db } = world.database
  const id = await insertTestOperation(db, wallet, await paidFor(at, kind), {
    ...{ kind, state: 'rejected', gas_cost_usd: gasUsd },
  })
  await db.raw('alter table operation disable trigger operation_times')
  await db('operation')
    .where({ id })
    .update({ ended_at: new Date(at) })
  await db.raw('alter table operation enable trigger operation_times')
}

const paidFor = (at: number, kind: string) =>
  kind === 'fund' ? insertTestFunding(world.database.db, wallet) : ended(at - 400 * DAY_MS)

async function trends(range = '7d', { cookie } = mine): Promise<TrendsAnswer> {
  const { body } = await pagesOf(world)('GET', `/trends?range=${range}`, { cookie })
  return trendsAnswer.parse(body)
}

const none = { volumeUsd: '0', completed: 0, failed: 0, p50Ms: null, gasUsd: '0' }

describe('GET /trends', () => {
  test.each([
    ['24h', 'hour', HOUR_MS, 24],
    ['7d', 'day', DAY_MS, 7],
    ['30d', 'day', DAY_MS, 30],
  ])('%s has each %s of the range, the last one running, also without intents', async (...row) => {
    const [range, unit, unitMs, units] = row
    const { from, to, since, points, ...sums } = await trends(range)
    expect(sums).toEqual({ unit, current: none, previous: none })
    expect(points.map(({ at }) => (Date.parse(at) - Date.parse(from)) / unitMs)).toEqual(
      Array.from({ length: units }, (_, index) => index),
    )
    expect(since).toBe(from)
    const runningMs = Date.parse(to) - Date.parse(points.at(-1)?.at ?? '')
    expect(runningMs).toBeGreaterThanOrEqual(0)
    expect(runningMs).toBeLessThan(unitMs)
  })

  test('sums completed intents, the median of their time, failures and gas by day', async () => {
    const day = Math.floor(Date.now() / DAY_MS) * DAY_MS
    await ended(day - DAY_MS, { usd: 1.5, tookMs: 1_000 })
    await ended(day - DAY_MS + 1, { usd: 2, tookMs: 3_000 })
    await ended(day - 2 * DAY_MS, { usd: 4, tookMs: 8_000 })
    await ended(day - 2 * DAY_MS, { status: 'failed', usd: 100 })
    await ended(day - 2 * DAY_MS, { status: 'failed', cancelled: true })
    await spent(day - DAY_MS, '0.25')
    await spent(day - DAY_MS, '0.05')
    await spent(day - DAY_MS, '9', 'fund')
    const { current, points } = await trends()
    expect(current).toEqual({
      ...{ volumeUsd: '7.5', completed: 3, failed: 1, p50Ms: 3_000, gasUsd: '0.300000' },
    })
    const two = { volumeUsd: '3.5', completed: 2, failed: 0, p50Ms: 2_000, gasUsd: '0.300000' }
    const one = { volumeUsd: '4', completed: 1, failed: 1, p50Ms: 8_000, gasUsd: '0' }
    expect(points.slice(-3)).toMatchObject([one, two, none])
    expect(points.slice(0, -3)).toMatchObject([none, none, none, none])
  })

  test('the range before ends at the same part of its last unit', async () => {
    await ended(Date.now() - 7 * DAY_MS - HOUR_MS / 60, { usd: 3 })
    // The rest of that day belongs to neither range, unless the day has just begun.
    await ended(Math.ceil((Date.now() - 7 * DAY_MS) / DAY_MS) * DAY_MS - 1, { usd: 50 })
    const { current, previous } = await trends()
    expect(current).toEqual(none)
    expect(previous).toMatchObject({ volumeUsd: '3', completed: 1 })
  })

  test('is of the own account only', async () => {
    await ended(Date.now() - 1)
    await spent(Date.now() - 1, '1')
    expect((await trends('24h')).current).toMatchObject({ completed: 1 })
    expect((await trends('24h', await newPerson(world))).current).toEqual(none)
  })

  test('sums the newest rows of a busy account, without a comparison, and since when', async () => {
    const now = Date.now()
    for (const age of [1, 2, 3]) await ended(now - age * HOUR_MS)
    const range = { from: new Date(now - DAY_MS), to: new Date(now), unitMs: DAY_MS, units: 1 }
    const sum = (most: number) => readTrends(world.database.db, mine.accountId, { ...range, most })
    expect(await sum(4)).toMatchObject({
      ...{ since: range.from, current: { completed: 3 }, previous: { completed: 0 } },
    })
    expect(await sum(2)).toMatchObject({
      ...{ since: new Date(now - 2 * HOUR_MS), current: { completed: 2 }, previous: null },
    })
  })

  test('reads only the ended rows of the range, by their indexes', async () => {
    const { db } = world.database
    const id = await ended(Date.now() - 1_000)
    await db.raw(
      `insert into intent (id, account_id, wallet_id, action, asset, units, status, plan, request_id,
         created_at, completed_at, ended_at)
       select 'intent_0' || lpad(n::text, 25, '0'), account_id, wallet_id, action, asset, units, status,
         plan, request_id, now() - n * interval '1 hour', now() - n * interval '1 hour',
         now() - n * interval '1 hour' from intent cross join generate_series(1, 5000) n where id = ?`,
      [id],
    )
    await db.raw('analyze intent')
    const plan = await planOf(() =>
      readTrends(db, mine.accountId, {
        ...{
          from: new Date(Date.now() - DAY_MS),
          to: new Date(),
          unitMs: HOUR_MS,
          units: 24,
          most: 100,
        },
      }),
    )
    expect(plan).toMatch(/Index (Only )?Scan Backward using intent_ended/)
    expect(plan).toMatch(/using operation_gas/)
    expect(plan).not.toMatch(/Seq Scan/)
  })

  test.each(['range=1h', 'range=', 'from=x'])('error: INVALID_REQUEST for %s', async (query) => {
    const { cookie } = mine
    const { status } = await pagesOf(world)('GET', `/trends?${query}`, { cookie })
    expect(status).toBe(400)
  })

  test('error: UNAUTHORIZED without a session', async () => {
    expect((await pagesOf(world)('GET', '/trends')).status).toBe(401)
  })
})

/** The plan of the first query of some work. */
async function planOf(work: () => Promise<unknown>): Promise<string> {
  const { db } = world.database
  const seen: { sql: string; bindings?: unknown[] }[] = []
  const note = (query: { sql: string; bindings?: unknown[] }) => void seen.push(query)
  db.on('query', note)
  await work()
  db.removeListener('query', note)
  const text = `explain ${seen[0]?.sql.replace(/\$\d+/g, '?') ?? ''}`
  const { rows } = await db.raw<{ rows: Record<string, string>[] }>(text, [
    ...(seen[0]?.bindings ?? []),
  ] as never)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
