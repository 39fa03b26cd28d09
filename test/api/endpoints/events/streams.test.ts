import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { randomInt } from 'node:crypto'
import { suspendAccount } from '../../../../db/accounts/accounts.js'
import { revokeApiKey } from '../../../../db/accounts/apiKeys.js'
import { setExecuting } from '../../../../db/intents/status.js'
import { setCompleted } from '../../../db/rows.js'
import { silentChains } from '../../../planning/chains.js'
import { startApi, type TestApi } from '../../api.js'
import type { ReceivedEvent } from '../../eventClient.js'
import { startEventWorld, type Customer, type EventWorld } from './world.js'

const limits = { pollMs: 300, bufferBytes: 20_000, heartbeatMs: 200 }
let events: EventWorld
let me: Customer

beforeAll(async () => {
  events = await startEventWorld(limits)
})
beforeEach(async () => {
  me = await events.newCustomer()
})
afterEach(() => {
  events.closeAll()
})
afterAll(() => events?.stop())

const database = () => events.world.database.db
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const idsOf = (events: ReceivedEvent[]) => events.map(({ id }) => id)

/** A sequence that its seed names. @see https://en.wikipedia.org/wiki/Linear_congruential_generator */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** The stored events of the account, in the order in which streams send them. */
async function stored(): Promise<string[]> {
  const rows = database()('intent_event').where({ account_id: me.accountId })
  const ids = await rows.orderBy(['xact', 'id']).pluck<bigint[]>('id')
  return ids.map((id) => `evt_${id}`)
}

/** Completes intents in transactions that overlap and end in no order. */
async function completeAll(ids: string[], draw: (below: number) => number): Promise<void> {
  const complete = async (id: string) => {
    await pause(draw(40))
    const trx = await events.worker.transaction()
    await trx.raw('select pg_current_xact_id()')
    await pause(draw(60))
    await setExecuting(trx, id)
    await pause(draw(60))
    await setCompleted(trx, id)
    await trx.commit()
  }
  // As many at a time as there are connections.
  const queue = [...ids]
  const work = async () => {
    for (let id = queue.pop(); id; id = queue.pop()) await complete(id)
  }
  await Promise.all(Array.from({ length: 5 }, work))
}

const anotherApi = (): Promise<TestApi> =>
  startApi({
    ...{ db: events.world.db, temporal: events.world.temporal.client, ...silentChains() },
    ...{ listenUrl: events.world.database.urlAs('steward_api'), streamLimits: limits },
  })

describe('streams', () => {
  test('transactions that commit out of order: every client receives each event once, in order', async () => {
    const seed = randomInt(2 ** 31)
    console.log(`seed ${seed}`)
    const ids = await Promise.all(Array.from({ length: 20 }, () => events.newIntent(me)))
    const clients = await Promise.all(
      Array.from({ length: 3 }, () => events.open('/v1/events?after=evt_0', me)),
    )
    const single = await events.open(`/v1/intents/${ids[0]}/events`, me)
    await completeAll(ids, random(seed))
    for (const client of clients) await client.until(4 * ids.length)
    await single.ended
    const order = await stored()
    for (const { events } of clients) expect(idsOf(events)).toEqual(order)
    const own = clients[0]?.events.filter(({ data }) => data.intentId === ids[0]) ?? []
    expect(single.events).toEqual(own)
    expect(own).toHaveLength(4)
  })

  test('a process stops in the middle: clients that resume at another one miss and repeat no event', async () => {
    const ids = await Promise.all(Array.from({ length: 15 }, () => events.newIntent(me)))
    const [first, second] = [await anotherApi(), await anotherApi()]
    try {
      const follow = async (api: TestApi, lastEventId: string) =>
        events.open('/v1/events', { key: me.key, lastEventId, url: api.url })
      const client = await follow(first, 'evt_0')
      await client.until(2 * ids.length)
      const work = completeAll(ids, random(7))
      await client.until(2 * ids.length + 6)
      await first.drain()
      await client.ended
      const again = await follow(second, client.lastEventId)
      const received = await again.until(4 * ids.length - client.events.length)
      await work
      expect([...idsOf(client.events), ...idsOf(received)]).toEqual(await stored())
    } finally {
      await first.stop()
      await second.stop()
    }
  })

  test('events behind an open transaction are sent soon after its end, without a notification', async () => {
    const id = await events.newIntent(me)
    const client = await events.open('/v1/events?after=evt_0', me)
    await client.until(2)
    const older = await events.worker.transaction()
    await older.raw('select pg_current_xact_id()')
    await setExecuting(events.worker, id)
    await pause(50)
    expect(client.events).toHaveLength(2)
    await older.commit()
    await client.until(3)
  })

  test('without notifications of the database the poll finds new events', async () => {
    const { db, temporal } = events.world
    const deaf = await startApi({
      ...{ db, temporal: temporal.client, ...silentChains(), streamLimits: limits },
    })
    try {
      const id = await events.newIntent(me)
      const client = await events.open(`/v1/intents/${id}/events`, { key: me.key, url: deaf.url })
      await client.until(2)
      await setExecuting(events.worker, id)
      await client.until(3)
    } finally {
      await deaf.stop()
    }
  })

  test('a stream ends when its key is revoked; the others continue', async () => {
    const id = await events.newIntent(me)
    const other = await events.newCustomer()
    const [mine, theirs] = [
      await events.open('/v1/events', me),
      await events.open(`/v1/events`, other),
    ]
    const row: { id: string } = await database()('api_key')
      .where({ account_id: me.accountId })
      .first('id')
    await revokeApiKey(database(), row.id)
    await mine.ended
    await setExecuting(events.worker, id)
    await events.newIntent(other)
    await theirs.until(2)
    expect(mine.events).toEqual([])
  })

  test('and when its account is suspended', async () => {
    const client = await events.open('/v1/events', me)
    await suspendAccount(database(), me.accountId, { by: 'ada', why: 'a test' })
    await client.ended
  })

  test('a slow client is disconnected, resumes where it was, and delays no other client', async () => {
    const [slow, quick] = [
      await events.open('/v1/events?after=evt_0', me),
      await events.open('/v1/events?after=evt_0', me),
    ]
    await events.newIntent(me)
    await Promise.all([slow.until(2), quick.until(2)])
    slow.pause()
    const wide = JSON.stringify({ code: 'DEPOSIT_FAILED', message: 'x'.repeat(100_000), step: 1 })
    let cut = false
    void slow.ended.then(() => (cut = true))
    let intents = 1
    // What the kernel keeps for a reader differs by system.
    while (!/stream closed: client too slow/.test(events.world.api.logText()) && intents < 200) {
      const id = await events.newIntent(me)
      intents += 1
      await database().raw(`select transition_intent(?, 'failed', ?)`, [id, wide])
      await quick.until(3 * intents - 1)
    }
    expect(intents).toBeLessThan(200)
    slow.resume()
    await slow.ended
    expect(cut).toBe(true)
    const { lastEventId, events: before } = slow
    const again = await events.open('/v1/events', { key: me.key, lastEventId })
    const rest = await again.until(3 * intents - 1 - before.length)
    expect([...idsOf(before), ...idsOf(rest)]).toEqual(idsOf(quick.events))
  })
})
