import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setExecuting } from '../../../../db/intents/status.js'
import { insertTestIntent, insertTestWallet, setCompleted } from '../../../db/rows.js'
import { startEventWorld, type Customer, type EventWorld } from './world.js'

let events: EventWorld
let me: Customer

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 200 })
})
beforeEach(async () => {
  me = await events.newCustomer()
})
afterEach(() => {
  events.closeAll()
})
afterAll(() => events?.stop())

type EventListBody = {
  data: { id: string; type: string; intentId: string }[]
  nextCursor: string | null
}

const list = async (query = '') => {
  const answer = await events.world.api.call('GET', `/v1/events${query}`, { key: me.key })
  expect(answer.status).toBe(200)
  return answer.body as unknown as EventListBody
}
/** Other databases of the server hold news back for a moment. */
async function listed(count: number, query = ''): Promise<EventListBody> {
  for (;;) {
    const page = await list(query)
    if (page.data.length >= count) return page
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('GET /v1/events as a list', () => {
  test('oldest first, page by page, and on from the last one', async () => {
    const one = await events.newIntent(me)
    const other = await events.newIntent(me)
    const all = await listed(4)
    expect(all.data.map(({ type }) => type)).toEqual([
      ...['intent.created', 'intent.planned', 'intent.created', 'intent.planned'],
    ])
    const first = await list('?limit=3')
    expect(first.data).toEqual(all.data.slice(0, 3))
    const second = await list(`?limit=3&cursor=${first.nextCursor}`)
    expect([second.data, second.nextCursor]).toEqual([all.data.slice(3), null])
    await setExecuting(events.worker, one)
    const news = await listed(1, `?after=${all.data[3]?.id}`)
    expect(news.data).toMatchObject([{ type: 'intent.executing', intentId: one }])
    expect((await list(`?intentId=${other}`)).data).toEqual(all.data.slice(2))
  })

  test('filters by type and wallet, and returns no event of another account', async () => {
    const id = await events.newIntent(me)
    await setExecuting(events.worker, id)
    await setCompleted(events.worker, id)
    await listed(4)
    const some = await list('?type=intent.completed,intent.planned')
    expect(some.data.map(({ type }) => type)).toEqual(['intent.planned', 'intent.completed'])
    const { db } = events.world.database
    const other = { ...(await insertTestWallet(db)), accountId: me.accountId }
    await db('wallet').where({ id: other.id }).update({ account_id: me.accountId, user_id: 'b' })
    const theirs = await insertTestIntent(db, other, 'planning')
    const own = await listed(2, `?walletId=${other.id}`)
    expect(own.data.map(({ intentId }) => intentId)).toEqual([theirs, theirs])
    const [foreign] = own.data
    me = await events.newCustomer()
    expect((await list()).data).toEqual([])
    expect((await list(`?intentId=${id}`)).data).toEqual([])
    const answer = await events.world.api.call('GET', `/v1/events?after=${foreign?.id}`, {
      key: me.key,
    })
    expect([answer.status, answer.body.error]).toEqual([400, 'INVALID_REQUEST'])
  })

  test.each(['type=created', 'type=', 'after=1', 'cursor=MQ&after=evt_1', 'cursor=x'])(
    'error: INVALID_REQUEST for %s',
    async (query) => {
      const answer = await events.world.api.call('GET', `/v1/events?${query}`, { key: me.key })
      expect([answer.status, answer.body.error]).toEqual([400, 'INVALID_REQUEST'])
    },
  )
})

describe('GET /v1/events as a stream', () => {
  test('starts with new events; a client without an event resumes at its start', async () => {
    const id = await events.newIntent(me)
    await listed(2)
    const client = await events.open('/v1/events', me)
    while (client.lastEventId === '') await new Promise((resolve) => setTimeout(resolve, 5))
    const { lastEventId } = client
    client.close()
    await setExecuting(events.worker, id)
    const again = await events.open('/v1/events', { key: me.key, lastEventId })
    await again.until(1)
    await setCompleted(events.worker, id)
    const received = await again.until(2)
    expect(received.map(({ event }) => event)).toEqual(['intent.executing', 'intent.completed'])
  })

  test('an account without past events', async () => {
    const client = await events.open('/v1/events', me)
    while (client.lastEventId === '') await new Promise((resolve) => setTimeout(resolve, 5))
    client.close()
    await events.newIntent(me)
    const again = await events.open('/v1/events', { key: me.key, lastEventId: client.lastEventId })
    expect((await again.until(2)).map(({ event }) => event)).toEqual([
      ...['intent.created', 'intent.planned'],
    ])
  })

  test('only of the types and the intent that are asked for', async () => {
    const [one, other] = [await events.newIntent(me), await events.newIntent(me)]
    const path = `/v1/events?after=evt_0&type=intent.executing,intent.planned&intentId=${one}`
    const client = await events.open(path, me)
    await client.until(1)
    await setExecuting(events.worker, other)
    await setExecuting(events.worker, one)
    await setCompleted(events.worker, one)
    const received = await client.until(2)
    expect(received.map(({ event, data }) => [event, data.intentId])).toEqual([
      ...[
        ['intent.planned', one],
        ['intent.executing', one],
      ],
    ])
  })
})
