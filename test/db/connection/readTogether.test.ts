import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connect, type Db } from '../../../db/connection/connect.js'
import { readTogether } from '../../../db/connection/gather.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
let db: Db
let statements = 0
beforeAll(async () => {
  database = await createDatabase()
  db = connect(database.url, 5)
  await db.raw('create table fact (value int)')
  await db('fact').insert({ value: 1 })
  db.on('query', ({ sql }: { sql: string }) => (statements += sql.includes('as told') ? 1 : 0))
})
afterAll(async () => {
  await db?.destroy()
  await database?.drop()
})

const readFact = readTogether(async (pool) => {
  const { rows } = await pool.raw<{ rows: { told: number }[] }>(
    'select value as told, pg_sleep(0.05) from fact',
  )
  return rows[0]?.told
})

test('those who ask at the same moment share a statement', async () => {
  statements = 0
  expect(await Promise.all(Array.from({ length: 8 }, () => readFact(db)))).toEqual(Array(8).fill(1))
  expect(statements).toBe(1)
})

test('who asks while a statement is under way is told what was so after he asked', async () => {
  const before = readFact(db)
  await db('fact').update({ value: 2 })
  const after = readFact(db)
  expect(await after).toBe(2)
  expect([1, 2]).toContain(await before)
})

test('a failure is told to those who wait for it, and to nobody else', async () => {
  let fails = true
  const read = readTogether(async (pool) => {
    await pool.raw(fails ? 'select 1 / 0' : 'select 1')
    return 'read'
  })
  const failed = await Promise.allSettled([read(db), read(db)])
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fails = false
  expect(await read(db)).toBe('read')
})
