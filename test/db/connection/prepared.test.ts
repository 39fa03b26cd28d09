import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/connection/connect.js'
import { runPlannedOnce } from '../../../db/connection/prepared.js'
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

test('what costs more to plan than to run is planned once, whatever its values are', async () => {
  const text = `select id as "once" from thing where state = $1 order by id`
  const read = (state: string, trx = db) => runPlannedOnce(trx, { name: 'once', text }, [state])
  await repeat(OFTEN, () => read('live'))
  expect(await readKept('as "once"')).toEqual([{ custom: 0, generic: OFTEN }])
  const mode = 'show plan_cache_mode'
  expect((await db.raw<{ rows: object[] }>(mode)).rows).toEqual([{ plan_cache_mode: 'auto' }])
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
