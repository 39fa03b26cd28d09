import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connect, type Db } from '../../../db/connection/connect.js'
import { runPlannedOnce } from '../../../db/connection/prepared.js'
import { readClaims } from '../../../db/lanes/claims.js'
import { walletByUser } from '../../../db/tenants/wallets.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
/** A pool of one session. */
let db: Db

beforeAll(async () => {
  database = await createDatabase()
  db = connect(database.url, 1)
  await db.raw('create table thing (id int primary key, state text not null)')
})
afterAll(async () => {
  await db?.destroy()
  await database?.drop()
})

const OFTEN = 12

async function repeat(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < count; at += 1) await work(at)
}

/** What the session keeps of statements that contain a text. */
async function readKept(containing: string): Promise<{ custom: number; generic: number }[]> {
  const { rows } = await db.raw<{ rows: { custom: number; generic: number }[] }>(
    `select custom_plans::int as custom, generic_plans::int as generic from pg_prepared_statements
     where strpos(statement, '${containing}') > 0`,
  )
  return rows
}

test('what comes often is parsed once and soon planned once, in transactions too', async () => {
  const find = (trx: Db, id: number) => trx('thing').where({ id }).first('state')
  await repeat(OFTEN, (at) => find(db, at))
  await db.transaction((trx) => repeat(OFTEN, (at) => find(trx, at)))
  const [kept, ...others] = await readKept('"state" from "thing" where "id"')
  expect(others).toEqual([])
  expect(kept?.generic).toBeGreaterThan(OFTEN)
})

test('what came once is not kept', async () => {
  await db('thing').where({ id: 1 }).count()
  expect(await readKept('count(')).toEqual([])
})

test('an index that hangs on a value is found as often as it is asked for', async () => {
  await db.raw(`insert into thing select n, 'over' from generate_series(1, 20000) n`)
  await db.raw(`create index thing_live on thing (id) where state = 'live'`)
  await db.raw('analyze thing')
  await repeat(OFTEN, () => db('thing').where({ state: 'live' }).orderBy('id').pluck('id'))
  const [kept] = await readKept('"thing" where "state"')
  expect(kept).toMatchObject({ generic: 0 })
  expect(kept?.custom).toBeGreaterThan(5)
})

test('what costs more to plan than to run is planned once, whatever its values are', async () => {
  const text = `select id as "once" from thing where state = $1 order by id`
  const read = (state: string, trx = db) => runPlannedOnce(trx, { name: 'once', text }, [state])
  await repeat(OFTEN, () => read('live'))
  expect(await readKept('as "once"')).toEqual([{ custom: 0, generic: OFTEN }])
  const mode = 'show plan_cache_mode'
  expect((await db.raw<{ rows: object[] }>(mode)).rows).toEqual([{ plan_cache_mode: 'auto' }])
})

test('what calls look up is soon planned once, one call at a time too', async () => {
  await db.raw(`insert into account (id, name, plan) values ('acct_1', 'test', 'pro')`)
  await repeat(OFTEN, () => walletByUser.find(db, 'acct_1', 'nobody'))
  const [kept] = await readKept('user_id = call.key')
  expect(kept?.generic).toBe(OFTEN - 5)
})

test('what others hold is soon planned once, however many chains are asked about', async () => {
  const at = (chainId: number) => ({ chainId: BigInt(chainId), number: 1n, hash: '0x1' })
  await repeat(OFTEN, (round) => {
    const chains = [1, 2, 3].slice(0, 1 + (round % 3))
    return readClaims(db, 'wallet', {
      blocks: chains.map(at),
      purses: chains.map((chainId) => ({ token: '0xusdc', at: at(chainId) })),
      rooms: chains.map((chainId) => ({ chainId, markets: ['0xpool'], token: '0xusdc' })),
      markets: chains.map((chainId) => ({ chainId, market: '0xpool' })),
    })
  })
  const [kept] = await readKept('as "stillBooked"')
  expect(kept?.generic).toBe(OFTEN - 5)
})

test('what is planned once is committed when it answers, or with the transaction that it is part of', async () => {
  const text = `insert into thing values ($1, 'new') returning id`
  const add = (id: number, trx = db) => runPlannedOnce(trx, { name: 'add', text }, [id])
  expect(await add(-1)).toEqual([{ id: -1 }])
  await expect(add(-1)).rejects.toMatchObject({ code: '23505' })
  const trx = await db.transaction()
  await add(-2, trx)
  await trx.rollback()
  expect(await db('thing').where({ state: 'new' }).pluck('id')).toEqual([-1])
})

test('a statement whose rows have got a column fails once, and is then asked as it stands', async () => {
  const read = () => db.raw<{ rows: object[] }>('select * from thing where id = ?', [1])
  await repeat(OFTEN, read)
  await db.raw('alter table thing add column more text')
  await expect(read()).rejects.toMatchObject({ code: '0A000' })
  expect((await read()).rows).toEqual([{ id: 1, state: 'over', more: null }])
  await repeat(OFTEN, read)
})

test('lists of many lengths do not fill a session', async () => {
  const ids = (length: number) => Array.from({ length }, (_, id) => id)
  await repeat(150, (length) => repeat(3, () => db('thing').whereIn('id', ids(length + 1))))
  const kept = await readKept('"thing"')
  expect(kept.length).toBeGreaterThan(50)
  expect(kept.length).toBeLessThanOrEqual(100)
})
