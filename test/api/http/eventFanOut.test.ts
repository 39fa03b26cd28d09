import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEventFanOut, type EventFanOut } from '../../../api/http/streaming/eventFanOut.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { BEGINNING, readPage, type Position } from '../../../db/intents/events.js'
import { createLog } from '../../../runtime/log.js'
import { forgetEvents, insertTestIntent, insertTestWallet, type TestWallet } from '../../db/rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
/** With the rights of the API only. */
let db: Db
let fanOut: EventFanOut
let mine: TestWallet
let theirs: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  db = connect(database.urlAs('steward_api'), 4)
})
beforeEach(async () => {
  // Nobody tells it what the database announces: each test wakes it at a moment of its choice.
  fanOut = createEventFanOut(db, createLog('api', 'error'))
  mine = await insertTestWallet(database.db)
  theirs = await insertTestWallet(database.db)
  for (const { accountId } of [mine, theirs]) await forgetEvents(database.db, accountId)
})
afterAll(async () => {
  await db?.destroy()
  await database?.drop()
})

/** Two events. */
const happen = (wallet = mine) => insertTestIntent(database.db, wallet, 'planning')

/** How far the timeline can be read, once it has so many events. Other databases of the server hold it back for a moment. */
async function readUpTo(count: number, wallet = mine): Promise<Position> {
  for (;;) {
    const page = await readPage(db, wallet.accountId, { after: BEGINNING, limit: 100 })
    if (page.events.length === count) return page.horizon
    await sleep(5)
  }
}

/** Hears of an account from a place on. */
function hear(from: Position, { accountId } = mine) {
  const told: bigint[] = []
  const onEvents = (events: { id: bigint }[]) => told.push(...events.map(({ id }) => id))
  const leave = fanOut.join(accountId, from, { filter: {}, onEvents })
  const until = async (count: number) => {
    while (told.length < count) await sleep(5)
    return told
  }
  return { told, leave, until }
}

const idsOf = ({ accountId }: TestWallet): Promise<bigint[]> =>
  database.db('intent_event').where({ account_id: accountId }).orderBy('id').pluck<bigint[]>('id')

describe('the fanOut', () => {
  test('tells who joins it what comes after his timeline, and nothing that he has read', async () => {
    const first = hear(await readUpTo(0))
    await happen()
    // He has read it, and the fanOut has not yet.
    const second = hear(await readUpTo(2))
    fanOut.wake(mine.accountId)
    await first.until(2)
    await happen()
    fanOut.wake(mine.accountId)
    await Promise.all([first.until(4), second.until(2)])
    const ids = await idsOf(mine)
    expect([first.told, second.told]).toEqual([ids, ids.slice(2)])
  })

  test('has him read on who missed what others were told meanwhile', async () => {
    const start = await readUpTo(0)
    const first = hear(start)
    await happen()
    fanOut.wake(mine.accountId)
    await first.until(2)
    const late = hear(start)
    expect(late.leave).toBeUndefined()
    const again = hear(await readUpTo(2))
    expect(again.leave).toBeDefined()
    await happen()
    fanOut.wake(mine.accountId)
    expect(await again.until(2)).toEqual((await idsOf(mine)).slice(2))
    expect(late.told).toEqual([])
  })

  test('reads at once for the first one what was announced before he came', async () => {
    const start = await readUpTo(0)
    await happen()
    fanOut.wake(mine.accountId)
    const only = hear(start)
    expect(await only.until(2)).toEqual(await idsOf(mine))
  })

  test('tells each account its own events, however many are read at once', async () => {
    const [own, other] = [hear(await readUpTo(0)), hear(await readUpTo(0, theirs), theirs)]
    await Promise.all([happen(mine), happen(theirs), happen(mine)])
    fanOut.wake()
    await Promise.all([own.until(4), other.until(2)])
    expect(new Set(own.told)).toEqual(new Set(await idsOf(mine)))
    expect(own.told).toHaveLength(4)
    expect(other.told).toEqual(await idsOf(theirs))
  })

  test('tells nothing to who has left', async () => {
    const start = await readUpTo(0)
    const [gone, there] = [hear(start), hear(start)]
    gone.leave?.()
    await happen()
    fanOut.wake(mine.accountId)
    await there.until(2)
    expect(gone.told).toEqual([])
  })
})
