import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { connect, type Db } from '../../../db/connection/connect.js'
import {
  findLingering,
  takeLingering,
  takeUndispatched,
  type Round,
} from '../../../db/intents/sweeping.js'
import { MOST_UNORDERED as ROOM } from '../../../db/intents/unordered.js'
import {
  inBlock,
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
let wallet: TestWallet
/** With the rights of the worker only. */
let db: Db

beforeEach(async () => {
  database = await createDatabase()
  db = connect(database.urlAs('steward_worker'))
  wallet = await insertTestWallet(database.db, '0x01', 'enterprise')
})
afterEach(async () => {
  await db.destroy()
  await database.drop()
})

const forget = (values = {}) =>
  insertTestIntent(database.db, wallet, 'planning', { created_at: new Date(0), ...values })
const takenIds = async (round?: Round) => {
  const { intents, fundings } = await takeUndispatched(db, 5_000, round)
  return [...intents.map(({ intent }) => intent.id), ...fundings.map(({ funding: { id } }) => id)]
}

describe('takeUndispatched', () => {
  test('gives each row to one of those who ask at the same time, with the tier of its account', async () => {
    const waiting = [await insertTestFunding(database.db, wallet)]
    for (let i = 0; i < 25; i += 1) waiting.push(await forget())
    const taken = await Promise.all(Array.from({ length: 8 }, () => takenIds()))
    // Who comes second may find the rows locked, and takes others: several rounds until nothing is left.
    for (let more = await takenIds(); more.length > 0; more = await takenIds()) taken.push(more)
    expect(taken.flat().sort()).toEqual(waiting.sort())
    await database.db('intent').update({ swept_at: null })
    const { intents } = await takeUndispatched(db, 5_000)
    expect(new Set(intents.map(({ tier }) => tier))).toEqual(new Set(['enterprise']))
  })

  test('passes a row over that another transaction holds', async () => {
    const held = await forget({ created_at: new Date(0) })
    const free = await forget()
    await database.db.transaction(async (trx) => {
      await trx('intent').where({ id: held }).forUpdate().select('id')
      expect(await takenIds()).toEqual([free])
    })
  })

  test('goes from account to account: few of one have their turn before many of another', async () => {
    for (let i = 0; i < 30; i += 1) await forget()
    const others = [await insertTestWallet(database.db), await insertTestWallet(database.db)]
    const few: string[] = []
    for (const other of [...others, ...others]) {
      few.push(await insertTestIntent(database.db, other, 'planning', { created_at: new Date(1) }))
    }
    expect(await takenIds()).toEqual(expect.arrayContaining(few))
  })

  test('in a round each of more accounts than are served together has its turn', async () => {
    const values = { created_at: new Date(0) }
    const owners = new Map<string, string>()
    for (let i = 0; i < 25; i += 1) {
      const other = await insertTestWallet(database.db)
      const insert = () => insertTestIntent(database.db, other, 'planning', values)
      for (const id of [await insert(), await insert()]) owners.set(id, other.accountId)
    }
    const round = { intent: '', funding: '', least: 0 }
    const taken: string[] = []
    for (let more = await takenIds(round); more.length > 0; more = await takenIds(round)) {
      taken.push(...more)
    }
    expect(taken.toSorted()).toEqual([...owners.keys()].toSorted())
    const firsts = taken.slice(0, 30).map((id) => owners.get(id))
    expect(new Set(firsts).size).toBe(25)
  })

  test('what was tried comes after what was not, and not before half a minute is over', async () => {
    const minuteAgo = new Date(Date.now() - 60_000)
    for (let i = 0; i < ROOM; i += 1) await forget({ swept_at: minuteAgo })
    await forget({ swept_at: new Date() })
    const fresh = await forget({ created_at: new Date(Date.now() - 10_000) })
    const first = await takenIds()
    expect(first).toHaveLength(ROOM)
    expect(first).toContain(fresh)
    expect(await takenIds()).toHaveLength(1)
    expect(await takenIds()).toEqual([])
  })

  test('takes none of an account while others of it have no step ordered, and says so, or as few as asked for', async () => {
    for (let i = 0; i < 3 * ROOM; i += 1) await forget()
    const start = async (ids: string[]) => {
      await database.db('intent').whereIn('id', ids).update({ dispatched_at: new Date() })
    }
    const first = await takeUndispatched(db, 5_000)
    expect(first).toMatchObject({ isHeldUp: false })
    const ids = first.intents.map(({ intent }) => intent.id)
    expect(ids).toHaveLength(ROOM)
    await start(ids)
    const held = { intents: [], isHeldUp: true }
    expect(await takeUndispatched(db, 5_000)).toMatchObject(held)
    expect(await takenIds({ intent: '', funding: '', least: 1 })).toHaveLength(1)
    const other = await insertTestWallet(database.db)
    const values = { created_at: new Date(0) }
    const free: string[] = []
    for (let i = 0; i < 3; i += 1) {
      free.push(await insertTestIntent(database.db, other, 'planning', values))
    }
    const second = await takeUndispatched(db, 5_000)
    expect(second).toMatchObject({ isHeldUp: false })
    const seconds = second.intents.map(({ intent }) => intent.id)
    expect(seconds).toHaveLength(free.length)
    expect(seconds).toEqual(expect.arrayContaining(free))
    await database.db('intent').whereIn('id', ids).update({ status: 'executing' })
    expect(await takenIds()).toHaveLength(ROOM)
  })
})

test('a look for what was not started reads no more, however much of it there is', async () => {
  await forget()
  const countTaken = async (count: number) => {
    const trx = await database.db.transaction()
    try {
      await trx.raw('set local session_replication_role = replica')
      await trx.raw(
        `insert into intent select copy.* from generate_series(1, ${count}) n, (select * from intent limit 1) one,
           jsonb_populate_record(null::intent, to_jsonb(one) || jsonb_build_object('id', 'copy_' || n)) copy`,
      )
      await trx.raw('analyze intent')
      const before = await countRead(trx)
      await takeUndispatched(trx, 5_000)
      return (await countRead(trx)) - before
    } finally {
      await trx.rollback()
    }
  }
  const few = await countTaken(100)
  expect(few).toBeGreaterThan(0)
  expect(await countTaken(3_000)).toBeLessThanOrEqual(2 * few)
})

/** Rows of intents that a transaction has read so far, of use or not. */
async function countRead(trx: Db): Promise<number> {
  const { rows } = await trx.raw<{ rows: [{ count: string }] }>(
    `select seq_tup_read + idx_tup_fetch as count from pg_stat_xact_user_tables where relname = 'intent'`,
  )
  return Number(rows[0].count)
}

describe('findLingering', () => {
  test('tells everything, page after page', async () => {
    const hourAgo = new Date(Date.now() - 3_600_000)
    const all = [await insertTestFunding(database.db, wallet, { dispatched_at: hourAgo })]
    for (let i = 0; i < 5; i += 1) all.push(await forget({ dispatched_at: hourAgo }))
    const found: string[] = []
    let page: string[]
    do {
      page = await findLingering(db, 60_000, { after: found.at(-1) ?? '', limit: 2 })
      found.push(...page)
    } while (page.length > 0)
    expect(found).toEqual(all.sort())
  })

  test('reads a page, and not all that is not over, for a page', async () => {
    const hourAgo = new Date(Date.now() - 3_600_000)
    for (let i = 0; i < 150; i += 1) await forget({ dispatched_at: hourAgo })
    await database.db.raw('vacuum analyze intent')
    const rowsRead = await db.transaction(async (trx) => {
      const before = await countRead(trx)
      expect(await findLingering(trx, 60_000, { after: '', limit: 5 })).toHaveLength(5)
      return (await countRead(trx)) - before
    })
    expect(rowsRead).toBeLessThan(20)
  })

  test('tells an intent that is over until its burned money has come out, and takes it', async () => {
    const confirmed = { state: 'confirmed', success: true, ...inBlock }
    const failed = await insertTestIntent(database.db, wallet, 'failed', {
      dispatched_at: new Date(0),
    })
    const insert = (values: object) =>
      insertTestOperation(database.db, wallet, failed, { ...confirmed, ...values })
    expect(await findLingering(db, 60_000, { after: '', limit: 2 })).toEqual([])
    const operation_id = await insert({ kind: 'bridge' })
    await database.db('burn').insert({ operation_id, source_domain: 3, destination_block: 0 })
    expect(await findLingering(db, 60_000, { after: '', limit: 2 })).toEqual([failed])
    const { intents } = await takeLingering(db, 60_000, [failed])
    expect(intents.map(({ intent }) => intent.id)).toEqual([failed])
    await insert({ kind: 'mint' })
    expect(await findLingering(db, 60_000, { after: '', limit: 2 })).toEqual([])
  })
})
