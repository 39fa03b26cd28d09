import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { connect, type Db } from '../../../db/connection/connect.js'
import { takeToStart, type Startable, type Turn } from '../../../db/intents/starting.js'
import {
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

const ROOM = 8
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000)

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

const store = (values = {}, owner = wallet) =>
  insertTestIntent(database.db, owner, 'planning', { created_at: new Date(0), ...values })
const idOf = (start: Startable) => ('intent' in start ? start.intent.id : start.funding.id)
const usual: Turn = { after: '', limit: 10, room: ROOM, least: 0 }
const take = (turn: Partial<Turn> = {}) => takeToStart(db, 'intent', { ...usual, ...turn })
const takenIds = async (turn?: Partial<Turn>) => (await take(turn)).starts.map(idOf)

describe('takeToStart', () => {
  test('gives each row to one of those who ask at the same time, with the tier and the user of its account', async () => {
    const waiting: string[] = []
    for (let i = 0; i < 25; i += 1) waiting.push(await store())
    const all = { room: 1_000 }
    const taken = await Promise.all(Array.from({ length: 8 }, () => takenIds(all)))
    // Who comes second may find the rows locked, and takes others: several rounds until nothing is left.
    for (let more = await takenIds(all); more.length > 0; more = await takenIds(all)) {
      taken.push(more)
    }
    expect(taken.flat().sort()).toEqual(waiting.sort())
    await database.db('intent').update({ swept_at: null })
    const { starts } = await take(all)
    const { user_id: userId } = await database.db('wallet').where({ id: wallet.id }).first()
    for (const start of starts) expect(start).toMatchObject({ tier: 'enterprise', userId })
  })

  test('gives a funding as it is stored', async () => {
    const id = await insertTestFunding(database.db, wallet)
    const { starts, isWaiting } = await takeToStart(db, 'funding', usual)
    const { accountId, id: walletId } = wallet
    expect(starts).toMatchObject([{ funding: { id, accountId, walletId }, tier: 'enterprise' }])
    expect(isWaiting).toBe(true)
    expect(await takeToStart(db, 'funding', usual)).toMatchObject({ starts: [], isWaiting: false })
  })

  test('takes nothing that was started, or is over without a workflow, and no more than asked for', async () => {
    await store({ dispatched_at: new Date() })
    await insertTestIntent(database.db, wallet, 'failed', {
      cancelled_at: new Date(),
      error: { code: 'CANCELLED', message: 'The intent was cancelled. Nothing was sent.' },
    })
    expect(await take()).toMatchObject({ starts: [], isWaiting: false })
    for (let i = 0; i < 5; i += 1) await store()
    expect(await takenIds({ limit: 3 })).toHaveLength(3)
  })

  test('passes a row over that another transaction holds', async () => {
    const held = await store()
    const free = await store()
    await database.db.transaction(async (trx) => {
      await trx('intent').where({ id: held }).forUpdate().select('id')
      expect(await takenIds()).toEqual([free])
    })
  })

  test('goes from account to account: few of one have their turn before many of another', async () => {
    for (let i = 0; i < 30; i += 1) await store()
    const others = [await insertTestWallet(database.db), await insertTestWallet(database.db)]
    const few: string[] = []
    for (const other of [...others, ...others]) few.push(await store({}, other))
    expect(await takenIds()).toEqual(expect.arrayContaining(few))
  })

  test('in a round each of more accounts than are taken of together has its turn', async () => {
    const owners = new Map<string, string>()
    for (let i = 0; i < 40; i += 1) {
      const other = await insertTestWallet(database.db)
      for (const id of [await store({}, other), await store({}, other)]) {
        owners.set(id, other.accountId)
      }
    }
    const taken: string[] = []
    let after = ''
    for (;;) {
      const more = await take({ after })
      if (more.starts.length === 0) break
      taken.push(...more.starts.map(idOf))
      after = more.after
    }
    expect(taken.toSorted()).toEqual([...owners.keys()].toSorted())
    const firsts = new Set(taken.slice(0, 40).map((id) => owners.get(id)))
    expect(firsts.size).toBe(40)
  })

  test('what was tried comes after what was not: after five seconds, and later the longer it waits', async () => {
    const young = { created_at: secondsAgo(8) }
    const tried = await store({ ...young, swept_at: secondsAgo(6) })
    const fresh = await store({ created_at: secondsAgo(1) })
    await store({ ...young, swept_at: secondsAgo(4) })
    const old = { created_at: secondsAgo(3_600) }
    await store({ ...old, swept_at: secondsAgo(55) })
    const later = await store({ ...old, swept_at: secondsAgo(65) })
    expect(await takenIds({ limit: 1 })).toEqual([fresh])
    expect((await takenIds()).toSorted()).toEqual([later, tried].toSorted())
    expect(await takenIds()).toEqual([])
  })

  test('takes none of an account while others of it have no step ordered, or as few as asked for', async () => {
    for (let i = 0; i < 3 * ROOM; i += 1) await store()
    const ids = await takenIds()
    expect(ids).toHaveLength(ROOM)
    // While they are being started, and when they are.
    expect(await take()).toMatchObject({ starts: [], isWaiting: true })
    await database.db('intent').whereIn('id', ids).update({ dispatched_at: new Date() })
    expect(await take()).toMatchObject({ starts: [], isWaiting: true })
    expect(await takenIds({ least: 1 })).toHaveLength(1)
    const other = await insertTestWallet(database.db)
    const free = [await store({}, other), await store({}, other), await store({}, other)]
    expect((await takenIds()).toSorted()).toEqual(free.toSorted())
    await database.db('intent').whereIn('id', ids).update({ status: 'executing' })
    expect(await takenIds()).toHaveLength(ROOM - 1)
  })

  test('what was started a minute ago and has no step is no reason to wait', async () => {
    const minuteAgo = { dispatched_at: secondsAgo(61), swept_at: secondsAgo(61) }
    for (let i = 0; i < ROOM; i += 1) await store(minuteAgo)
    await store()
    expect(await takenIds()).toHaveLength(1)
  })

  test('of fundings it takes none while as many have no operation, whatever was ordered before', async () => {
    const insert = (seconds: number) =>
      insertTestFunding(database.db, wallet, {
        dispatched_at: secondsAgo(seconds),
        swept_at: secondsAgo(seconds),
      })
    for (let i = 0; i < 3 * ROOM; i += 1) {
      await insertTestOperation(database.db, wallet, await insert(10), { kind: 'fund' })
    }
    const unordered: string[] = []
    for (let i = 0; i < ROOM; i += 1) unordered.push(await insert(1))
    const next = await insertTestFunding(database.db, wallet)
    const takeFundings = () => takeToStart(db, 'funding', usual)
    expect(await takeFundings()).toMatchObject({ starts: [], isWaiting: true })
    await insertTestOperation(database.db, wallet, String(unordered[0]), { kind: 'fund' })
    expect((await takeFundings()).starts.map(idOf)).toEqual([next])
  })
})

test('a look for what is to be started reads no more, however much of it there is', async () => {
  await store()
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
      await takeToStart(trx, 'intent', usual)
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
