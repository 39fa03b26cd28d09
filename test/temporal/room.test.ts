import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { connect, type Db } from '../../db/connection/connect.js'
import { MOST_UNORDERED as ROOM } from '../../db/intents/unordered.js'
import { createRoom, type Place, type Room } from '../../temporal/room.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'

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
  room = createRoom(api, { enteringMs: DAY_MS, startingMs: DAY_MS })
  many = await insertTestWallet(database.db)
  few = await insertTestWallet(database.db)
})
afterEach(() => api.destroy())

const insertStarted = (values: Record<string, unknown> = {}) =>
  insertTestIntent(database.db, many, 'planning', { dispatched_at: new Date(), ...values })

const enter = ({ accountId }: TestWallet) => room.enter(accountId)
async function enterMany(count: number): Promise<Place[]> {
  const places: Place[] = []
  for (let i = 0; i < count; i++) places.push(await enter(many))
  return places
}

/** Waits while another account finds room, who asks later and needs as many looks. */
async function whileOthersPass(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    const place = await enter(few)
    await place.untilRoom()
    place.leave()
  }
}

describe('room for another intent of an account', () => {
  test('is there for any number while no other account is about', async () => {
    expect(await enterMany(5 * ROOM)).toHaveLength(5 * ROOM)
  })

  test('is there once one has left its place, and for others all the time', async () => {
    await enter(few)
    const [first] = await enterMany(ROOM)
    let isOver = false
    const next = enter(many).then(() => (isOver = true))
    await whileOthersPass()
    expect(isOver).toBe(false)
    first?.leave()
    await next
  })

  test('is not waited for longer than was said', async () => {
    room = createRoom(api, { enteringMs: 1, startingMs: 1 })
    await enter(few)
    expect(await enterMany(3 * ROOM)).toHaveLength(3 * ROOM)
  })
})

describe('room for the start of an intent', () => {
  const insertSome = async (count: number, values = {}) => {
    const ids: string[] = []
    for (let i = 0; i < count; i++) ids.push(await insertStarted(values))
    return ids
  }
  const order = (ids: string[]) =>
    database.db('intent').whereIn('id', ids).update({ status: 'executing' })

  test('is there for any number while no other account is about', async () => {
    await insertSome(ROOM)
    for (const place of await enterMany(3 * ROOM)) await place.untilRoom()
  })

  test('is there once steps of those before are ordered, in whichever process they were started', async () => {
    await enter(few)
    const places = await enterMany(3)
    const ids = await insertSome(ROOM)
    const passed: number[] = []
    const passing = places.map((place, at) => place.untilRoom().then(() => passed.push(at)))
    await whileOthersPass()
    expect(passed).toEqual([])
    await order(ids.slice(0, 1))
    await passing[0]
    await whileOthersPass()
    expect(passed).toEqual([0])
    await order(ids)
    await Promise.all(passing)
    expect(passed).toEqual([0, 1, 2])
  })

  test('is taken by what is being started, until that is written down', async () => {
    await enter(few)
    const places = await enterMany(ROOM)
    for (const place of places) await place.untilRoom()
    let isOver = false
    const next = room
      .place(many.accountId)
      .untilRoom()
      .then(() => (isOver = true))
    await whileOthersPass()
    expect(isOver).toBe(false)
    places[0]?.leave()
    await next
  })

  test('is there though others wait to be started, or were started long ago', async () => {
    await enter(few)
    await insertSome(ROOM, { dispatched_at: new Date(Date.now() - 61_000) })
    await insertSome(ROOM, { dispatched_at: null })
    await (await enter(many)).untilRoom()
  })

  test('is not waited for longer than was said', async () => {
    room = createRoom(api, { enteringMs: 1, startingMs: 1 })
    await enter(few)
    await insertSome(ROOM)
    for (const place of await enterMany(3)) await place.untilRoom()
  })
})
