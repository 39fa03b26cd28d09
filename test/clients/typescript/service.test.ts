import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RateLimitedError, Steward, type RetryFacts } from '@steward/sdk'
import { setExecuting } from '../../../db/intents/status.js'
import { setCompleted } from '../../db/rows.js'
import {
  startEventWorld,
  type Customer,
  type EventWorld,
} from '../../api/endpoints/events/world.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'

let events: EventWorld
let me: Customer

beforeAll(async () => {
  events = await startEventWorld({ perAccount: 1 })
})
beforeEach(async () => {
  me = await events.newCustomer()
})
afterAll(() => events?.stop())

const database = () => events.world.database.db
const clientOf = (options: object = {}) =>
  new Steward({ apiKey: me.key, baseUrl: events.world.api.url, ...options })

describe('a response that is lost after the call succeeded', () => {
  let proxy: TcpProxy
  beforeEach(async () => {
    proxy = await startTcpProxy({ host: '127.0.0.1', port: events.world.api.port })
  })

  const intentsOf = () => database()('intent').where({ account_id: me.accountId })
  const chargesOf = () =>
    database()('ledger').where({ account_id: me.accountId, delta: -5 }).pluck<string[]>('delta')

  test('lend: one intent, one charge and the response of the first attempt', async () => {
    const retries: RetryFacts[] = []
    const onRetry = (facts: RetryFacts) => void retries.push(facts)
    const baseUrl = `http://127.0.0.1:${proxy.port}`
    const steward = clientOf({ baseUrl, maxRetries: 5, hooks: { onRetry } })
    proxy.set('deaf')
    const lending = steward.intents.lend({ walletId: me.id, amount: '1.5' })
    while ((await intentsOf()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    proxy.set('closed')
    while (retries.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    proxy.set('open')
    const intent = await lending
    expect(await intentsOf().pluck('id')).toEqual([intent.id])
    expect(await chargesOf()).toHaveLength(1)
    await proxy.stop()
  })

  test('a later repetition with the key of the error is executed once', async () => {
    const baseUrl = `http://127.0.0.1:${proxy.port}`
    const steward = clientOf({ baseUrl, maxRetries: 0 })
    const order = { walletId: me.id, amount: 2n }
    proxy.set('deaf')
    const lending = steward.intents.lend(order).catch((error: unknown) => error)
    while ((await intentsOf()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    proxy.set('closed')
    const { idempotencyKey } = (await lending) as { idempotencyKey: string }
    proxy.set('open')
    const intent = await steward.intents.lend(order, { idempotencyKey })
    expect(await intentsOf().pluck('id')).toEqual([intent.id])
    expect(await chargesOf()).toHaveLength(1)
    await proxy.stop()
  })
})

describe('rate limits', () => {
  test('429: a stream above the limit waits for Retry-After', async () => {
    const intentId = await events.newIntent(me)
    const retries: RetryFacts[] = []
    const controller = new AbortController()
    const onRetry = (facts: RetryFacts) => {
      retries.push(facts)
      controller.abort(new Error('seen'))
    }
    const steward = clientOf({ hooks: { onRetry } })
    const seat = await events.open(`/v1/intents/${intentId}/events`, me)
    const waiting = steward.intents.get(intentId, { wait: 1 }, { signal: controller.signal })
    await expect(waiting).rejects.toThrow('seen')
    seat.close()
    expect(retries).toEqual([expect.objectContaining({ attempt: 1, waitMs: 5_000 })])
    expect(retries[0]?.error).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 5 })
    expect(retries[0]?.error).toMatchObject({ details: { window: 'open streams', limit: 1 } })
  })

  test('429: a request above the rate limit waits until it resets', async () => {
    await database()('account').where({ id: me.accountId }).update({ rpm: 1 })
    const retries: RetryFacts[] = []
    const controller = new AbortController()
    const onRetry = (facts: RetryFacts) => {
      retries.push(facts)
      controller.abort(new Error('seen'))
    }
    const { signal } = controller
    const hopeful = clientOf({ hooks: { onRetry } })
    // A new minute may begin between two calls, but not twice within three.
    const calls = Array.from({ length: 3 }, () => hopeful.credits.get({ signal }))
    await Promise.allSettled(calls)
    const [{ error, waitMs } = {}] = retries
    expect(error).toBeInstanceOf(RateLimitedError)
    const { details, retryAfter = 0 } = error as RateLimitedError
    expect(details).toMatchObject({ limit: 1, window: '1 minute', retryAfter })
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    expect(waitMs).toBe(retryAfter * 1000)
  })

  test('waitForCompletion polls when the stream limit is reached', async () => {
    const intentId = await events.newIntent(me)
    const seat = await events.open(`/v1/intents/${intentId}/events`, me)
    const types: string[] = []
    const waiting = clientOf().intents.waitForCompletion(intentId, {
      onEvent: ({ type }) => types.push(type),
    })
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    expect((await waiting).status).toBe('completed')
    expect(types.at(-1)).toBe('intent.completed')
    seat.close()
  })
})

describe('paging while new entries arrive', () => {
  const COUNT = 600

  /** Inserts many intents with their first events. */
  const insertMany = (count: number, from: number) =>
    database().raw(
      `insert into intent (id, account_id, wallet_id, action, asset, units, status, request_id)
       select 'intent_' || right(:walletId, 18) || lpad((:from::int + n)::text, 8, '0'), :accountId, :walletId, 'lend', 'USDC', 1000000,
         'pending', 'req_test'
       from generate_series(1, :count::int) n`,
      { from, count, accountId: me.accountId, walletId: me.id },
    )

  test('intents.list: each existing entry once, newest first', async () => {
    await insertMany(COUNT, 0)
    const ids: string[] = []
    for await (const { id } of clientOf().intents.list()) {
      ids.push(id)
      if (ids.length % 50 === 0) await insertMany(3, COUNT + ids.length)
    }
    const numbers = ids.map((id) => Number(id.slice(-8)))
    expect(numbers).toEqual(Array.from({ length: COUNT }, (_one, index) => COUNT - index))
  })

  test('events.list: each event once, in order, including new ones', async () => {
    await insertMany(COUNT, 0)
    const ids: string[] = []
    let more = 0
    for await (const { id } of clientOf().events.list({ after: 'evt_0' })) {
      ids.push(id)
      if (ids.length % 50 !== 0 || more >= 10) continue
      more += 1
      await insertMany(3, COUNT + ids.length)
    }
    const rows = database()('intent_event').where({ account_id: me.accountId })
    const stored = await rows.orderBy(['xact', 'id']).pluck<bigint[]>('id')
    expect(ids).toEqual(stored.map((id) => `evt_${id}`))
    expect(ids.length).toBeGreaterThanOrEqual(COUNT + 30)
  })

  test('an awaited list is one page, and its cursor continues', async () => {
    await insertMany(5, 0)
    const { intents } = clientOf()
    const { data, hasMore, nextCursor } = await intents.list({ limit: 2 })
    expect([data.length, hasMore]).toEqual([2, true])
    const rest: string[] = []
    for await (const { id } of intents.list({ limit: 2, cursor: nextCursor ?? '' })) rest.push(id)
    expect(rest).toHaveLength(3)
  })
})
