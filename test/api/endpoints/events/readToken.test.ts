import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { setExecuting } from '../../../../db/intents/status.js'
import { setCompleted } from '../../../db/rows.js'
import { deleteExpiredTokens } from '../../../../db/accounts/readTokens.js'
import { createApiKey } from '../../../../db/accounts/accounts.js'
import { startEventWorld, type Customer, type EventWorld } from './world.js'

let events: EventWorld
let me: Customer
let intentId: string

beforeAll(async () => {
  events = await startEventWorld({ pollMs: 100 })
})
beforeEach(async () => {
  me = await events.newCustomer()
  intentId = await events.newIntent(me)
})
afterEach(() => {
  events.closeAll()
})
afterAll(() => events?.stop())

const make = async (key = me.key, id = intentId) =>
  events.world.api.call('POST', `/v1/intents/${id}/read-token`, { key })
const makeToken = async () => String((await make()).body.token)
const call = (method: string, path: string, key?: string) =>
  events.world.api.call(method, path, key === undefined ? {} : { key })
const database = () => events.world.database.db

describe('POST /v1/intents/:intentId/read-token', () => {
  test('creates a token for 15 minutes and stores only its digest', async () => {
    const { status, body } = await make()
    expect([status, body.intentId]).toEqual([201, intentId])
    const lives = Date.parse(String(body.expiresAt)) - Date.now()
    expect(lives).toBeGreaterThan(0)
    expect(lives).toBeLessThanOrEqual(15 * 60_000)
    const { rows } = await database().raw<{ rows: { text: string }[] }>(
      'select t::text as text from read_token t where intent_id = ?',
      [intentId],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]?.text).not.toContain(String(body.token).slice('svc_rt_'.length))
  })

  test('is not stored in the response of an Idempotency-Key: each call creates a token that works', async () => {
    const headers = { 'idempotency-key': 'one' }
    const path = `/v1/intents/${intentId}/read-token`
    const answers = []
    for (let i = 0; i < 2; i += 1) {
      answers.push(await events.world.api.call('POST', path, { key: me.key, headers }))
    }
    const tokens = answers.map(({ body }) => String(body.token))
    expect(new Set(tokens).size).toBe(2)
    for (const token of tokens) {
      expect((await call('GET', `/v1/intents/${intentId}`, token)).status).toBe(200)
    }
    const kept = await database()('idempotency_key').pluck<string[]>('body')
    expect(kept.filter((body) => body.includes('svc_rt_'))).toEqual([])
  })

  test('carries no-store', async () => {
    expect((await make()).headers.get('cache-control')).toBe('no-store')
  })

  test('is free, and a read-only key may create one', async () => {
    const key = await createApiKey(database(), me.accountId, { name: 'r', scopes: ['read'] })
    const { status, headers } = await make(key)
    expect([status, headers.get('x-credits-charged')]).toEqual([201, '0'])
  })

  test('error: INTENT_NOT_FOUND for the intent of another account', async () => {
    const { key } = await events.newCustomer()
    expect(await make(key)).toMatchObject({ status: 404, body: { error: 'INTENT_NOT_FOUND' } })
  })
})

describe('a read token', () => {
  test('grants its intent and the events, by header and by query, free of charge', async () => {
    const token = await makeToken()
    const byHeader = await call('GET', `/v1/intents/${intentId}`, token)
    const byQuery = await call('GET', `/v1/intents/${intentId}?token=${token}`)
    expect([byHeader.status, byQuery.status]).toEqual([200, 200])
    expect([byHeader.body.id, byHeader.headers.get('x-credits-charged')]).toEqual([intentId, '0'])
    const client = await events.open(`/v1/intents/${intentId}/events?token=${token}`)
    await client.until(2)
    await setExecuting(events.worker, intentId)
    await setCompleted(events.worker, intentId)
    await client.ended
    expect(client.events).toHaveLength(4)
    const row = database()('account').where({ id: me.accountId })
    expect(await row.first('total_used')).toEqual({ total_used: 0n })
  })

  test('grants nothing else', async () => {
    const token = await makeToken()
    const other = await events.newIntent(me)
    const refused = await Promise.all([
      call('GET', `/v1/intents/${other}`, token),
      call('GET', `/v1/intents/${other}/events?token=${token}`),
    ])
    expect(refused.map(({ status }) => status)).toEqual([403, 403])
    const unknown = await Promise.all([
      call('GET', '/v1/intents', token),
      call('GET', '/v1/events', token),
      call('GET', `/v1/events?token=${token}`),
      call('GET', `/v1/wallets/user?token=${token}`),
      call('POST', `/v1/intents/${intentId}/cancel`, token),
      call('POST', `/v1/intents/${intentId}/read-token`, token),
      call('GET', '/dashboard/credits', token),
    ])
    expect(unknown.map(({ status }) => status)).toEqual(Array<number>(7).fill(401))
  })

  test('expires together with its stream; then it is deleted', async () => {
    const token = await makeToken()
    const client = await events.open(`/v1/intents/${intentId}/events?token=${token}`)
    await client.until(2)
    await database().raw(
      `update read_token set created_at = now() - interval '16 minutes', expires_at = now()`,
    )
    await client.ended
    expect((await call('GET', `/v1/intents/${intentId}?token=${token}`)).status).toBe(401)
    expect(await deleteExpiredTokens(events.worker, 1_000)).toBeGreaterThan(0)
    expect(await deleteExpiredTokens(events.worker, 1_000)).toBe(0)
  })

  test('has its own rate limit of 60 per minute, apart from the account', async () => {
    const token = await makeToken()
    const statuses: number[] = []
    for (let turn = 0; turn < 61; turn++) {
      // A new minute would reset the count.
      await database().raw('update read_token set win = floor(extract(epoch from now()) / 60)')
      statuses.push((await call('GET', `/v1/intents/${intentId}`, token)).status)
    }
    expect(statuses).toEqual([...Array<number>(60).fill(200), 429])
    const row: unknown = await database()('account').where({ id: me.accountId }).first('win_used')
    expect(row).toEqual({ win_used: 1 })
  })

  test('is never logged', async () => {
    const token = await makeToken()
    await call('GET', `/v1/intents/${intentId}?token=${token}`)
    await call('GET', `/v1/intents/${intentId}?token=${token}&x=1`)
    await call('GET', `/v1/wallets?token=${token}`)
    expect(events.world.api.logText()).not.toContain(token)
  })
})

describe('a page of another origin', () => {
  const origin = { origin: 'https://example.com' }
  const allowed = ({ headers }: { headers: Headers }) => headers.get('access-control-allow-origin')

  test('may use a token, and reads why it was refused', async () => {
    const token = await makeToken()
    const url = `${events.world.api.url}/v1/intents/${intentId}?token=`
    const [good, bad] = [
      await fetch(url + token, { headers: origin }),
      await fetch(`${url}x`, { headers: origin }),
    ]
    expect([good, bad].map(({ status }) => status)).toEqual([200, 401])
    expect([good, bad].map(allowed)).toEqual(['*', '*'])
    expect(good.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('may send a preflight request, on these two paths only', async () => {
    const ask = (path: string, headers: object = {}) =>
      fetch(events.world.api.url + path, {
        method: 'OPTIONS',
        headers: { ...origin, 'access-control-request-method': 'GET', ...headers },
      })
    for (const path of [`/v1/intents/${intentId}`, `/v1/intents/${intentId}/events`]) {
      const answer = await ask(path)
      expect([answer.status, allowed(answer)]).toEqual([204, '*'])
      const names = answer.headers.get('access-control-allow-headers')
      expect(names?.toLowerCase()).toMatch(/authorization.*last-event-id/)
      expect(answer.headers.get('access-control-allow-methods')).toBe('GET')
    }
    const dashboard = `/dashboard/api/intents/${intentId}`
    for (const path of ['/v1/intents', '/v1/events', dashboard, `${dashboard}/events`]) {
      const answer = await ask(path)
      expect([path, allowed(answer)]).toEqual([path, null])
      expect(answer.status).not.toBe(204)
    }
  })

  test('gets nothing with a key', async () => {
    const headers = { ...origin, authorization: `Bearer ${me.key}` }
    const answer = await fetch(`${events.world.api.url}/v1/intents/${intentId}`, { headers })
    expect([answer.status, allowed(answer)]).toEqual([200, null])
  })
})
