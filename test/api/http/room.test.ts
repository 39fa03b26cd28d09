import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createRoom, type Place, type Room } from '../../../api/http/room.js'
import { connect, type Db } from '../../../db/connection/connect.js'
import { MOST_UNORDERED as ROOM } from '../../../db/intents/starting.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../../db/rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

const DAY_MS = 86_400_000

let database: TestDatabase
let api: Db
/** Of a process that nobody has called yet. */
let room: Room
let many: TestWallet
let few: TestWallet

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())
beforeEach(async () => {
  api = connect(database.urlAs('steward_api'), 2)
  room = createRoom(api, DAY_MS)
  many = await insertTestWallet(database.db)
  few = await insertTestWallet(database.db)
})
afterEach(() => api.destroy())

async function store(count: number, values: Record<string, unknown> = {}): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    ids.push(await insertTestIntent(database.db, many, 'planning', values))
  }
  return ids
}
const start = (ids: string[]) =>
  database.db('intent').whereIn('id', ids).update({ dispatched_at: new Date() })

const enter = ({ accountId }: TestWallet) => room.enter(accountId)
async function enterMany(count: number): Promise<Place[]> {
  const places: Place[] = []
  for (let i = 0; i < count; i++) places.push(await enter(many))
  return places
}

/** Waits while another account finds room, who asks later and needs as many looks. */
async function whileOthersPass(): Promise<void> {
  for (let i = 0; i < 2 * ROOM; i++) (await enter(few)).leave()
}

describe('room for another intent of an account', () => {
  test('is there for any number while no other account is about', async () => {
    await store(ROOM)
    expect(await enterMany(5 * ROOM)).toHaveLength(5 * ROOM)
  })

  test('is there once one has left its place and is not stored, and for others all the time', async () => {
    await enter(few)
    const [first] = await enterMany(ROOM)
    let isOver = false
    const next = enter(many).then(() => (isOver = true))
    await whileOthersPass()
    expect(isOver).toBe(false)
    first?.leave()
    await next
  })

  test('is there once one of those that are stored is started, in whichever process they were stored', async () => {
    await enter(few)
    const ids = await store(ROOM)
    let isOver = false
    const next = enter(many).then(() => (isOver = true))
    await whileOthersPass()
    expect(isOver).toBe(false)
    await start(ids.slice(0, 1))
    await next
  })

  test('is there though many were started, or are over without a workflow', async () => {
    await enter(few)
    await start(await store(ROOM))
    const cancelled = { code: 'CANCELLED', message: 'The intent was cancelled. Nothing was sent.' }
    const over = { cancelled_at: new Date(), error: cancelled }
    for (let i = 0; i < ROOM; i++) await insertTestIntent(database.db, many, 'failed', over)
    await enter(many)
  })

  test('is not waited for longer than was said', async () => {
    room = createRoom(api, 1)
    await enter(few)
    await store(ROOM)
    expect(await enterMany(3)).toHaveLength(3)
  })
})
