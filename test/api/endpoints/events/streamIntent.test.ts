import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { connect, type Db } from '../../../../db/client/connect.js'
import { readEvents } from '../../../../db/intents/events.js'
import { setExecuting, setFailed, setRecovery } from '../../../../db/intents/status.js'
import {
  insertTestIntent,
  insertTestWallet,
  setCompleted,
  type TestWallet,
} from '../../../db/rows.js'
import { startWorld, type ApiWorld } from '../../api.js'
import { openEvents, type EventClient } from '../../eventClient.js'

let world: ApiWorld
let worker: Db
let wallet: TestWallet
let key: string
let clients: EventClient[] = []

beforeAll(async () => {
  world = await startWorld(undefined, { streamLimits: { pollMs: 200, heartbeatMs: 50 } })
  worker = connect(world.database.urlAs('steward_worker'), 4)
})
beforeEach(async () => {
  wallet = await insertTestWallet(world.database.db)
  key = await createApiKey(world.database.db, wallet.accountId, { name: 'test' })
})
afterEach(() => {
  for (const client of clients) client.close()
  clients = []
})
afterAll(async () => {
  await worker?.destroy()
  await world?.stop()
})

const insert = () => insertTestIntent(world.database.db, wallet, 'planning')
const follow = async (intentId: string, { query = '', lastEventId = '' } = {}) => {
  const headers = lastEventId ? { 'last-event-id': lastEventId } : undefined
  const url = `${world.api.url}/v1/intents/${intentId}/events${query}`
  const client = await openEvents(url, { key, ...(headers && { headers }) })
  clients.push(client)
  return client
}
/** Waits until so many events of an intent are visible. An older open transaction hides them. */
async function untilVisible(intentId: string, count: number): Promise<void> {
  const { db } = world.database
  const read = () => readEvents(db, wallet.accountId, { intentId, limit: count })
  while ((await read()).length < count) await sleep(5)
}
const typesOf = (client: EventClient) => client.events.map(({ event }) => event)
const timeout = { code: 'BRIDGE_TIMEOUT' as const, message: 'test', step: 1 }
const failure = { code: 'DEPOSIT_FAILED' as const, message: 'test', step: 1 }
const recovered = { txHash: '0x1', chain: 'base-sepolia', asset: 'USDC', amount: '1' }

describe('GET /v1/intents/:intentId/events', () => {
  test('sends past events, then new ones, until the end', async () => {
    const id = await insert()
    const client = await follow(id)
    expect([client.status, client.headers['content-type']]).toEqual([200, 'text/event-stream'])
    expect(client.headers['cache-control']).toBe('no-store, no-transform')
    await client.until(2)
    await setExecuting(worker, id)
    await client.until(3)
    await setCompleted(worker, id)
    await client.ended
    expect(typesOf(client)).toEqual([
      ...['intent.created', 'intent.planned', 'intent.executing', 'intent.completed'],
    ])
    const common = { intentId: id, walletId: wallet.id, timestamp: expect.stringMatching(/Z$/) }
    const created = { status: 'planning', action: 'lend', asset: 'USDC', amount: 1 }
    const [first] = client.events
    expect(first?.data).toEqual({
      ...{ id: first?.id, type: 'intent.created', ...common, data: created },
    })
  })

  test('an intent that has ended: all of it, and the end', async () => {
    const id = await insert()
    await setFailed(worker, id, failure)
    const client = await follow(id)
    await client.ended
    expect(typesOf(client)).toEqual(['intent.created', 'intent.planned', 'intent.failed'])
    expect(client.events[2]?.data.data).toEqual({ status: 'failed', error: failure })
  })

  test.each(['header', 'query'])('resumes after the last event, by %s', async (way) => {
    const id = await insert()
    const [, last] = await (await follow(id)).until(2)
    const from =
      way === 'header' ? { lastEventId: last?.id ?? '' } : { query: `?after=${last?.id}` }
    await setExecuting(worker, id)
    const client = await follow(id, from)
    await client.until(1)
    await setCompleted(worker, id)
    await client.ended
    expect(typesOf(client)).toEqual(['intent.executing', 'intent.completed'])
  })

  test('204 for a client with all events: an EventSource stops reconnecting', async () => {
    const id = await insert()
    await setFailed(worker, id, failure)
    const client = await follow(id)
    await client.ended
    const again = await follow(id, { lastEventId: client.lastEventId })
    await again.ended
    expect([again.status, again.events]).toEqual([204, []])
  })

  test('a reopened end does not end the stream: it continues to the next end', async () => {
    const id = await insert()
    await setExecuting(worker, id)
    await setCompleted(worker, id)
    await world.database.db.raw(`select transition_intent(?, 'reopened')`, [id])
    await untilVisible(id, 5)
    const client = await follow(id)
    await client.until(5)
    await setFailed(worker, id, failure)
    await client.ended
    expect(typesOf(client).slice(3)).toEqual([
      ...['intent.completed', 'intent.reopened', 'intent.failed'],
    ])
  })

  test('BRIDGE_TIMEOUT does not end the stream: the recovery does', async () => {
    const id = await insert()
    await setFailed(worker, id, timeout)
    const client = await follow(id)
    await client.until(3)
    await setRecovery(worker, id, recovered)
    await client.ended
    expect(typesOf(client).slice(2)).toEqual(['intent.failed', 'intent.recovered'])
  })

  test('a heartbeat comment is sent without events', async () => {
    const client = await follow(await insert())
    await client.until(2)
    while (client.comments < 3) await new Promise((resolve) => setTimeout(resolve, 10))
    expect(client.events).toHaveLength(2)
  })

  test('HEAD has no body and no end to wait for', async () => {
    const url = `${world.api.url}/v1/intents/${await insert()}/events`
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(url, { method: 'HEAD', headers })
    expect(response.status).toBe(200)
  })

  test('is free and counts as one request', async () => {
    const client = await follow(await insert())
    await client.until(2)
    const row = world.database.db('account').where({ id: wallet.accountId })
    expect(await row.first('win_used', 'total_used')).toEqual({ win_used: 1, total_used: 0n })
  })

  test('error: INTENT_NOT_FOUND for unknown and foreign intents', async () => {
    const mine = key
    const foreign = await insertTestWallet(world.database.db)
    const id = await insertTestIntent(world.database.db, foreign, 'planning')
    for (const intentId of [id, 'intent_x']) {
      const answer = await world.api.call('GET', `/v1/intents/${intentId}/events`, { key: mine })
      expect([answer.status, answer.body.error]).toEqual([404, 'INTENT_NOT_FOUND'])
    }
  })

  test.each(['x', 'evt_', 'evt_99999999', 'evt_1.5'])(
    'error: INVALID_REQUEST for the event %s',
    async (name) => {
      const path = `/v1/intents/${await insert()}/events?after=${name}`
      const answer = await world.api.call('GET', path, { key })
      expect([answer.status, answer.body.error]).toEqual([400, 'INVALID_REQUEST'])
    },
  )
})
