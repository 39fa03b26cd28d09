import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { runPlannedOnce } from '../../../db/client/prepared.js'
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

test('runPrepared: a generic plan commits with its statement, or with its transaction', async () => {
  const text = `insert into thing values ($1, 'new') returning id`
  const add = (id: number, trx = db) => runPlannedOnce(trx, { name: 'add', text }, [id])
  expect(await add(-1)).toEqual([{ id: -1 }])
  await expect(add(-1)).rejects.toMatchObject({ code: '23505' })
  const trx = await db.transaction()
  await add(-2, trx)
  await trx.rollback()
  expect(await db('thing').where({ state: 'new' }).pluck('id')).toEqual([-1])
})
