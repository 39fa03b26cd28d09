import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEventFanOut, type EventFanOut } from '../../../api/http/streaming/eventFanOut.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { BEGINNING, readPage, type EventPosition } from '../../../db/intents/events.js'
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
  // It receives no notifications of the database. Each test wakes it.
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

/** The horizon, once so many events are below it. Transactions of other databases on the server delay it. */
async function readUpTo(count: number, wallet = mine): Promise<EventPosition> {
  for (;;) {
    const page = await readPage(db, wallet.accountId, { after: BEGINNING, limit: 100 })
    if (page.events.length === count) return page.horizon
    await sleep(5)
  }
}

/** Hears of an account from a place on. */
function hear(from: EventPosition, { accountId } = mine) {
  const received: bigint[] = []
  const onEvents = (events: { id: bigint }[]) => received.push(...events.map(({ id }) => id))
  const leave = fanOut.join(accountId, from, { filter: {}, onEvents })
  const until = async (count: number) => {
    while (received.length < count) await sleep(5)
    return received
  }
  return { received, leave, until }
}

const idsOf = ({ accountId }: TestWallet): Promise<bigint[]> =>
  database.db('intent_event').where({ account_id: accountId }).orderBy('id').pluck<bigint[]>('id')

describe('createEventFanOut', () => {
  test('sends a new subscriber the events after its horizon, and none that it has read', async () => {
    const first = hear(await readUpTo(0))
    await happen()
    // The subscriber has read it, and the fan-out has not yet.
    const second = hear(await readUpTo(2))
    fanOut.wake(mine.accountId)
    await first.until(2)
    await happen()
    fanOut.wake(mine.accountId)
    await Promise.all([first.until(4), second.until(2)])
    const ids = await idsOf(mine)
    expect([first.received, second.received]).toEqual([ids, ids.slice(2)])
  })

  test('makes a subscriber read again when it missed events that others received', async () => {
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
    expect(late.received).toEqual([])
  })

  test('reads at once for the first subscriber what was announced before it joined', async () => {
    const start = await readUpTo(0)
    await happen()
    fanOut.wake(mine.accountId)
    const only = hear(start)
    expect(await only.until(2)).toEqual(await idsOf(mine))
  })

  test('sends each account its own events, also when many are read at once', async () => {
    const [own, other] = [hear(await readUpTo(0)), hear(await readUpTo(0, theirs), theirs)]
    await Promise.all([happen(mine), happen(theirs), happen(mine)])
    fanOut.wake()
    await Promise.all([own.until(4), other.until(2)])
    expect(new Set(own.received)).toEqual(new Set(await idsOf(mine)))
    expect(own.received).toHaveLength(4)
    expect(other.received).toEqual(await idsOf(theirs))
  })

  test('sends nothing to a subscriber that has left', async () => {
    const start = await readUpTo(0)
    const [gone, there] = [hear(start), hear(start)]
    gone.leave?.()
    await happen()
    fanOut.wake(mine.accountId)
    await there.until(2)
    expect(gone.received).toEqual([])
  })
})
