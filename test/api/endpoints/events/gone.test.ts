import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setExecuting } from '../../../../db/intents/status.js'
import { setCompleted } from '../../../db/rows.js'
import { startEventWorld, type Customer, type EventWorld } from './world.js'

/** Clients that resume after an event that is no longer stored. */
let events: EventWorld
let me: Customer

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 300, heartbeatMs: 200 })
})
beforeEach(async () => {
  me = await events.newCustomer()
})
afterEach(() => {
  events.closeAll()
})
afterAll(() => events?.stop())

const database = () => events.world.database.db
const get = (path: string) => events.world.api.call('GET', path, { key: me.key })

/** Deletes all events so far, as the monthly cleanup does. Times have millisecond precision. */
async function forgetAll(): Promise<string> {
  const { rows } = await database().raw<{ rows: [{ last: bigint }] }>(
    `with gone as (delete from intent_event returning id)
     update event_floor set before = clock_timestamp() + interval '1 millisecond', id = (select max(id) from gone) returning id as last`,
  )
  return `evt_${rows[0].last}`
}

async function complete(id: string): Promise<void> {
  await setExecuting(events.worker, id)
  await setCompleted(events.worker, id)
}

describe('an event that is no longer stored', () => {
  test('as `after` of a list, as Last-Event-ID of a stream: 400 with the reason event_gone', async () => {
    await complete(await events.newIntent(me))
    const last = await forgetAll()
    const answers = [
      await get(`/v1/events?after=${last}`),
      await get(`/v1/events?cursor=${last.slice(4)}`),
    ]
    for (const { status, body } of answers) {
      expect([status, body.details.reason]).toEqual([400, 'event_gone'])
    }
    const stream = await events.open('/v1/events', { key: me.key, lastEventId: last })
    expect(stream.status).toBe(400)
  })

  test('an unknown id gets another error; a stored event resumes without a gap', async () => {
    await complete(await events.newIntent(me))
    await forgetAll()
    const id = await events.newIntent(me)
    const { body } = await get('/v1/events')
    const [first, second] = (body.data as { id: string }[]).map((event) => event.id)
    const unknown = await get(`/v1/events?after=evt_999999999999`)
    expect(unknown.status).toBe(400)
    expect(unknown.body.details.reason).toBeUndefined()
    const stream = await events.open('/v1/events', { key: me.key, lastEventId: first ?? '' })
    await complete(id)
    const received = await stream.until(3)
    expect(received[0]?.id).toBe(second)
    expect(received.map(({ event }) => event)).toEqual([
      ...['intent.planned', 'intent.executing', 'intent.completed'],
    ])
  })

  test('the stream of an intent that had ended: 204; of one that runs: new events', async () => {
    const [over, running] = [await events.newIntent(me), await events.newIntent(me)]
    await complete(over)
    await forgetAll()
    const nothing = await events.open(`/v1/intents/${over}/events`, { key: me.key })
    expect(nothing.status).toBe(204)
    const stream = await events.open(`/v1/intents/${running}/events`, { key: me.key })
    expect(stream.status).toBe(200)
    await complete(running)
    await stream.ended
    expect(stream.events.map(({ event }) => event)).toEqual([
      ...['intent.executing', 'intent.completed'],
    ])
  })
})
