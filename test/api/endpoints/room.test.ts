import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitForRoom } from '../../../api/endpoints/room.js'
import { connect, type Db } from '../../../db/connection/connect.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../../db/rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

/** So many intents without an ordered step an account may bring while others are about. */
const ROOM = 16

let database: TestDatabase
/** Of a process that nobody has called yet. */
let api: Db
let many: TestWallet
let few: TestWallet

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())
beforeEach(async () => {
  api = connect(database.urlAs('steward_api'), 2)
  many = await insertTestWallet(database.db)
  few = await insertTestWallet(database.db)
})
afterEach(() => api.destroy())

/** New for as long as the test takes. */
const insertStarted = (values: Record<string, unknown> = {}) =>
  insertTestIntent(database.db, many, 'planning', {
    ...{ dispatched_at: new Date(), created_at: new Date(Date.now() + 60_000) },
    ...values,
  })
const bring = ({ accountId }: TestWallet) => waitForRoom(api, accountId)

/** Brings intents one by one, of which no step is ordered. */
async function flood(count: number, values: Record<string, unknown> = {}): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    await bring(many)
    ids.push(await insertStarted(values))
  }
  return ids
}

/** Whether something is still under way a while later, in which the other account has been about. */
async function isHeldUp(work: Promise<unknown>): Promise<boolean> {
  let isOver = false
  void work.then(() => (isOver = true))
  for (let i = 0; i < 10; i++) {
    await bring(few)
    await sleep(30)
  }
  return !isOver
}

const order = (ids: string[]) =>
  database.db('intent').whereIn('id', ids).update({ status: 'executing' })

describe('room for another intent of an account', () => {
  test('is there for any number while no other account is about', async () => {
    expect(await flood(3 * ROOM)).toHaveLength(3 * ROOM)
  })

  test('is there once steps of those before are ordered, and for others all the time', async () => {
    await bring(few)
    const ids = await flood(ROOM)
    const next = flood(1)
    expect(await isHeldUp(next)).toBe(true)
    await order(ids.slice(0, 1))
    await next
    const after = flood(1)
    expect(await isHeldUp(after)).toBe(true)
    await order(ids)
    await after
  })

  test('is there when the others have gone, or what has no step is old or not started', async () => {
    await bring(few)
    await flood(ROOM, { created_at: new Date(Date.now() - 2_000) })
    await flood(2 * ROOM, { dispatched_at: null })
    await flood(ROOM)
    await bring(many)
  }, 20_000)

  test('is counted for all processes', async () => {
    await bring(few)
    for (let i = 0; i < ROOM; i++) await insertStarted()
    const next = flood(ROOM + 1)
    expect(await isHeldUp(next)).toBe(true)
    await order(await database.db('intent').where({ wallet_id: many.id }).pluck<string[]>('id'))
    await next
  })
})
