import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { keepEvents, readEventFloor, readEvents } from '../../../db/intents/events.js'
import { findOddEvents, pageIntents } from '../../../admin/audit/rows/rows.js'
import { dispatchEvents } from '../../../db/webhooks/sending.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { forgetEvents, insertTestIntent, insertTestWallet, type TestWallet } from '../rows.js'

let database: TestDatabase
/** With the permissions of the API, and of the worker, only. */
let api: Db
let worker: Db
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 1)
  worker = connect(database.urlAs('steward_worker'), 1)
  wallet = await insertTestWallet(database.db)
  await forgetEvents(database.db, wallet.accountId)
  // The month may have changed since the tables were created.
  await keepEvents(worker, 90)
})
afterAll(async () => {
  await Promise.all([api.destroy(), worker.destroy()])
  await database.drop()
})

/** The first moment of a month in UTC, as a number of months from this one. */
function monthFrom(months: number): Date {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months))
}
const nameOf = (months: number) =>
  `intent_event_${monthFrom(months).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Creates a month before the existing ones. */
async function createPast(months: number): Promise<void> {
  const [from, until] = [monthFrom(months).toISOString(), monthFrom(months + 1).toISOString()]
  await database.db.raw(`create table if not exists ${nameOf(months)} partition of intent_event
    for values from ('${from}') to ('${until}')`)
}

async function partitions(): Promise<string[]> {
  const { rows } = await database.db.raw<{ rows: { name: string }[] }>(
    `select inhrelid::regclass::text as name from pg_inherits
     where inhparent = 'intent_event'::regclass order by 1`,
  )
  return rows.map(({ name }) => name)
}

async function insertEvent(at: Date, type = 'webhook.test'): Promise<bigint> {
  const [row] = await database
    .db('intent_event')
    .insert({ account_id: wallet.accountId, type, data: {}, at })
    .returning<{ id: bigint }[]>('id')
  if (!row) throw new Error('The event was not stored.')
  return row.id
}

const read = (after?: bigint) =>
  readEvents(api, wallet.accountId, { limit: 10, ...(after !== undefined && { after }) })
const idsOf = (events: { id: bigint }[]) => events.map(({ id }) => id)
/** Visible events, with these among them: another database of the server may delay them for a moment. */
async function visibleWith(...wanted: bigint[]): Promise<bigint[]> {
  for (;;) {
    const ids = idsOf(await read())
    if (wanted.every((id) => ids.includes(id))) return ids
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('keepEvents', () => {
  test('creates coming months in advance, and keeps and moves events without one', async () => {
    const { db } = database
    expect(await partitions()).toEqual(
      expect.arrayContaining(['intent_event_default', nameOf(1), nameOf(2)]),
    )
    await db.raw(`drop table ${nameOf(2)}`)
    const id = await insertEvent(monthFrom(2))
    const countIn = async (table: string) => (await db(table).where({ id: id.toString() })).length
    expect(await countIn('intent_event_default')).toBe(1)
    expect(await keepEvents(worker, 90)).toEqual({ made: 1, dropped: 0 })
    expect([await countIn('intent_event_default'), await countIn(nameOf(2))]).toEqual([0, 1])
    expect(await visibleWith(id)).toEqual([id])
    expect(await keepEvents(worker, 90)).toEqual({ made: 0, dropped: 0 })
  })

  test('drops expired months at once, and records the highest deleted number', async () => {
    await createPast(-5)
    const dropped = await insertEvent(new Date(monthFrom(-4).getTime() - 1))
    const kept = await insertEvent(new Date())
    await visibleWith(dropped, kept)
    expect(await readEventFloor(api)).toEqual({ id: 0n, before: null })

    expect(await keepEvents(worker, 90)).toMatchObject({ dropped: 1 })
    expect(await partitions()).not.toContain(nameOf(-5))
    expect(await visibleWith(kept)).not.toContain(dropped)
    expect(await readEventFloor(api)).toEqual({ id: dropped, before: monthFrom(-4) })
  })

  test('keeps a month until its deliveries are created and can no longer be repeated', async () => {
    const { db } = database
    await dispatchEvents(worker, 500)
    const hook = { id: 'wh_late', account_id: wallet.accountId, url: 'https://example.com' }
    const since = new Date('2020-01-01')
    await db('webhook').insert({ ...hook, created_at: since, enabled_at: since })
    await createPast(-4)
    const id = await insertEvent(new Date(monthFrom(-3).getTime() - 1), 'wallet.created')
    expect(await keepEvents(worker, 31)).toMatchObject({ dropped: 0 })
    const deliveries = () => db('webhook_delivery').where({ webhook_id: hook.id })
    // Another database of the server may delay events for a moment.
    while ((await deliveries()).length === 0) await dispatchEvents(worker, 500)
    expect(await deliveries().pluck('event_id')).toEqual([id])
    expect(await keepEvents(worker, 31)).toMatchObject({ dropped: 0 })
    await visibleWith(id)

    await deliveries().delete()
    expect(await keepEvents(worker, 31)).toMatchObject({ dropped: 1 })
    expect(idsOf(await read())).not.toContain(id)
  })

  test('keeps at least 31 days', async () => {
    await createPast(-1)
    const id = await insertEvent(new Date(monthFrom(0).getTime() - 1))
    await keepEvents(worker, 1)
    await visibleWith(id)
  })

  test('event numbers continue, and only the owner can set one', async () => {
    const [first, second] = [await insertEvent(new Date()), await insertEvent(new Date())]
    expect(second).toBeGreaterThan(first)
    await expect(api.raw(`select nextval('intent_event_number')`)).rejects.toThrow(/permission/)
  })
})

describe('readOddEvents', () => {
  test('ignores an intent whose events were deleted, and checks a later one', async () => {
    const { db } = database
    const { before } = await readEventFloor(db)
    if (!before) throw new Error('No event was deleted.')
    const long = { created_at: new Date(before.getTime() - 60_000) }
    const id = await insertTestIntent(db, wallet, 'completed', long)
    const late = await insertTestIntent(db, wallet, 'completed')
    await db('intent_event').whereIn('intent_id', [id, late]).delete()
    const reportedOf = async (one: string) =>
      (await pageIntents(db, { after: '', limit: 100 })).find((row) => row.id === one)?.reported
    expect([await reportedOf(id), await reportedOf(late)]).toEqual(['completed', null])

    const jump = { account_id: wallet.accountId, type: 'completed', data: { status: 'completed' } }
    await db('intent_event').insert([id, late].map((one) => ({ ...jump, intent_id: one })))
    expect(await findOddEvents(db, [id, late])).toMatchObject([{ intentId: late, before: null }])
  })
})
