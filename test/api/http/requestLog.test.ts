import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { createAccount, createApiKey } from '../../../db/accounts/accounts.js'
import { publishWebhookKey } from '../../../db/webhooks/endpoints.js'
import { importWebhookKey, newWebhookKey } from '../../../activities/webhooks/secrets.js'
import { makeKek } from '../../custody/kek/kekFile.js'
import { recordRequests } from '../../../db/usage/requests.js'
import { entry } from '../../db/accounts/requestRows.js'
import { insertTestIntent } from '../../db/rows.js'
import { silentChains } from '../../planning/chains.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'
import { standInTemporal, startApi, type TestApi } from '../api.js'

let database: TestDatabase
/** Between the API and its request log, and nothing else. */
let proxy: TcpProxy
let db: Db
let api: TestApi
let accountId: string
let key: string

beforeAll(async () => {
  database = await createDatabase()
  const kek = await makeKek()
  const row = { id: kek.id, public_key: Buffer.from(kek.publicKey), active: true }
  await database.db('kek').insert(row)
  db = connect(database.urlAs('steward_api'), 10)
  const { hostname, port } = new URL(database.url)
  proxy = await startTcpProxy({ host: hostname, port: Number(port) })
  api = await start()
})
beforeEach(async () => {
  accountId = (await createAccount(database.db, { name: 'test', plan: 'pro' })).id
  key = await createApiKey(database.db, accountId, { name: 'test' })
})
afterAll(async () => {
  await api.stop()
  await proxy.stop()
  await db.destroy()
  await database.drop()
})

function start(): Promise<TestApi> {
  const requestLogUrl = new URL(database.urlAs('steward_api'))
  requestLogUrl.hostname = '127.0.0.1'
  requestLogUrl.port = String(proxy.port)
  const temporal = standInTemporal().client
  return startApi({ db, temporal, ...silentChains(), requestLogUrl: requestLogUrl.href })
}

const wallet = async (userId: string) =>
  (await api.call('POST', '/v1/wallets', { key, body: { userId } })).body.id

const kept = () =>
  database.db('request_log').where({ account_id: accountId }).orderBy('id') as Promise<
    Record<string, unknown>[]
  >
const textOf = async (table: string): Promise<string> => {
  const sql = `select coalesce(string_agg(t::text, ' '), '') as text from ${table} t`
  const { rows } = await database.db.raw<{ rows: [{ text: string }] }>(sql)
  return rows[0].text
}

/** The rows of the account, once there are so many. */
async function untilKept(count: number) {
  let rows = await kept()
  for (; rows.length < count; rows = await kept()) await sleep(20)
  return rows
}

describe('the request log', () => {
  test('stores each request of an account: caller, route, status and cost', async () => {
    const walletId = await wallet('alice')
    const read = await api.call('GET', '/v1/wallets/alice', { key })
    const unknown = newId('intent_')
    await api.call('GET', `/v1/intents/${unknown}?x=1`, { key })
    await api.call('POST', '/v1/wallets', { key, raw: '{' })
    await api.call('GET', '/v1/nothing/here', { key })
    await api.call('DELETE', '/v1/intents', { key })
    await api.call('GET', '/dashboard/credits', { key })
    const rows = await untilKept(7)
    const logged = rows.map(({ method, path, status, code, credits }) =>
      [method, path, status, code, credits].join(' '),
    )
    expect(logged).toEqual([
      'POST /v1/wallets 201  1',
      'GET /v1/wallets/:userId 200  1',
      'GET /v1/intents/:intentId 400 INVALID_REQUEST 0',
      'POST /v1/wallets 400 INVALID_REQUEST 0',
      'GET /v1 404 NOT_FOUND 0',
      'DELETE /v1/intents 405 METHOD_NOT_ALLOWED 0',
      'GET /dashboard/credits 200  0',
    ])
    expect(rows.slice(0, 2).map(({ wallet_id: of }) => of)).toEqual([walletId, walletId])
    expect(rows[1]?.id).toBe(read.headers.get('x-request-id'))
    expect(rows[2]?.resource_id).toBe(unknown)
    const keyIds = await database.db('api_key').where({ account_id: accountId }).pluck('id')
    expect([...new Set(rows.map(({ caller_id: caller }) => caller))]).toEqual(keyIds)
  })

  test('stores the webhook of a call', async () => {
    await publishWebhookKey(database.db, await importWebhookKey(await newWebhookKey()))
    const body = { url: 'http://127.0.0.1:9/hook' }
    const { id } = (await api.call('POST', '/v1/webhooks', { key, body })).body
    await api.call('GET', `/v1/webhooks/${id}`, { key })
    await api.call('GET', `/v1/webhooks/${id}/deliveries`, { key })
    const rows = await untilKept(3)
    expect(rows.map(({ resource_id: of }) => of)).toEqual([id, id, id])
  })

  test('stores the intent and the wallet of a call', async () => {
    const walletId = await wallet('alice')
    const owner = { id: walletId, accountId, address: '0x', requestId: 'req_test' }
    const intentId = await insertTestIntent(database.db, owner, 'completed')
    await api.call('GET', `/v1/intents/${intentId}`, { key })
    const body = { walletId, action: 'lend', amount: 1 }
    const created = await api.call('POST', '/v1/intents', { key, body })
    const again = { key, body, headers: { 'idempotency-key': 'one' } }
    const first = await api.call('POST', '/v1/intents', again)
    await api.call('POST', '/v1/intents', again)
    const rows = (await untilKept(5)).slice(1)
    const ids = [intentId, created.body.id, first.body.id, first.body.id]
    expect(rows.map(({ resource_id: of }) => of)).toEqual(ids)
    expect(rows.map(({ wallet_id: of }) => of)).toEqual(Array(4).fill(walletId))
    expect(rows.map(({ credits }) => credits)).toEqual([1, 5, 5, 0])
  })

  test('stores rejected requests of a valid key, and only counts requests without one', async () => {
    const reader = await createApiKey(database.db, accountId, { name: 'r', scopes: ['read'] })
    await database.db('account').where({ id: accountId }).update({ rpm: 1 })
    await api.call('POST', '/v1/wallets', { key: reader, body: {} })
    await api.call('GET', '/v1/wallets', { key: reader })
    const before = api.requestLog()?.unknownCaller ?? NaN
    await api.call('GET', '/v1/wallets')
    await api.call('GET', '/v1/wallets', { key: `svc_sk_${'0'.repeat(64)}` })
    await database.db('api_key').where({ name: 'r' }).update({ revoked_at: new Date() })
    await api.call('GET', '/v1/wallets', { key: reader })
    const rows = await untilKept(2)
    expect(rows.map(({ code }) => code)).toEqual(['FORBIDDEN', 'RATE_LIMITED'])
    expect(api.requestLog()?.unknownCaller).toBe(before + 3)
    const strangers = await database.db('request_log').whereNotIn('status', [403, 429])
    expect(strangers.filter(({ status }: { status: number }) => status === 401)).toEqual([])
  })

  test('stores a request whose caller disconnected early', async () => {
    const held = await database.db.transaction()
    await held('account').where({ id: accountId }).forUpdate()
    const heldAt = new Date()
    const socket = connectSocket(api.port, '127.0.0.1')
    const head = ['GET /v1/wallets/alice HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`]
    socket.write([...head, '', ''].join('\r\n'))
    await once(socket, 'connect')
    while ((await admissionsSince(heldAt)) === 0) await sleep(10)
    socket.destroy()
    await held.rollback()
    const [row] = await untilKept(1)
    expect([404, 499]).toContain(row?.status)
  })

  test('adds up requests, errors and credits of each day, key and endpoint', async () => {
    const other = await createApiKey(database.db, accountId, { name: 'other' })
    await wallet('alice')
    const reads = ['alice', 'alice', 'bob'].map((user) =>
      api.call('GET', `/v1/wallets/${user}`, { key }),
    )
    await Promise.all([...reads, api.call('GET', '/v1/wallets/alice', { key: other })])
    await untilKept(5)
    const sums = await database
      .db('request_day as d')
      .join('api_key as k', 'k.id', 'd.caller_id')
      .where({ 'd.account_id': accountId })
      .orderBy(['k.name', 'endpoint'])
      .select('k.name', 'endpoint', 'requests', 'errors', 'd.credits')
    expect(sums.map((sum: object) => Object.values(sum).join(' '))).toEqual([
      'other GET /v1/wallets/:userId 1 0 1',
      'test GET /v1/wallets/:userId 3 1 2',
      'test POST /v1/wallets 1 0 1',
    ])
  })

  test('stores why a request was refused: message, fields, values and Idempotency-Key', async () => {
    const walletId = await wallet('alice')
    const send = (body: object, headers = {}) =>
      api.call('POST', '/v1/intents', { key, body, headers })
    const headers = { 'idempotency-key': 'order-7' }
    const wrong = await send({ walletId, action: 'lend', amount: true, extra: 'hunter2' }, headers)
    const unknown = await api.call('GET', `/v1/intents/${newId('intent_')}`, { key })
    const [accepted, ...refused] = (await untilKept(3)).map(({ refusal }) => refusal)
    expect(accepted).toBeNull()
    expect(refused[0]).toMatchObject({ message: wrong.body.message, idempotencyKey: 'order-7' })
    expect(refused[0]).toMatchObject({
      issues: [{ path: 'extra' }, { path: 'amount', value: 'true' }],
    })
    expect(JSON.stringify(refused)).not.toContain('hunter2')
    expect(refused[1]).toEqual({ message: unknown.body.message })
  })

  test('stores no refusal above its bound, and the request all the same', async () => {
    const { rows } = await database.db.raw<{ rows: { id: string }[] }>(
      `select id from api_key where account_id = ?`,
      [accountId],
    )
    const refusal = JSON.stringify({ message: 'x'.repeat(9_000) })
    const one = { ...entry(accountId, { userId: rows[0]?.id, status: 400 }), refusal }
    await recordRequests(db, [one])
    expect(await kept()).toMatchObject([{ id: one.id, refusal: null }])
  })

  test('never contains an API key, in any part of a request', async () => {
    const send = async (where: string, method: string, secret: string) => {
      const paths: Record<string, string> = {
        path: `/${secret}`,
        intent: `/intents/${secret}`,
        query: `/wallets?userId=${secret}`,
        status: `/intents?status=${secret}&${secret}=1`,
      }
      const body = {
        body: { userId: secret },
        field: { userId: 1, [secret]: secret, chain: secret },
        metadata: { userId: 'x', metadata: { secret } },
      }[where] ?? { userId: secret }
      const headers = where === 'name' ? { 'idempotency-key': secret } : {}
      const content = method === 'POST' ? { body } : {}
      await api.call(method, `/v1${paths[where] ?? '/wallets'}`, { key, headers, ...content })
    }
    let sent = 0
    for (const where of [
      'path',
      'intent',
      'query',
      'status',
      'body',
      'field',
      'name',
      'metadata',
    ]) {
      for (const secret of [key, key.slice('svc_sk_'.length, -8)]) {
        for (const method of ['GET', 'POST']) {
          await send(where, method, secret)
          sent += 1
        }
      }
    }
    const rows = await untilKept(sent)
    expect(rows).toHaveLength(sent)
    const text = (await textOf('request_log')) + (await textOf('request_day'))
    expect(text).toContain(accountId)
    expect(text).not.toContain(key.slice('svc_sk_'.length, -8))
  })
})

const admissionsSince = async (time: Date): Promise<number> => {
  const { rows } = await database.db.raw<{ rows: unknown[] }>(
    `select 1 from pg_stat_activity where query like '%from admit_calls%' and query_start > ?`,
    [time],
  )
  return rows.length
}

describe('writing the request log', () => {
  test('the API responds while its database is unavailable, and waiting entries are stored later', async () => {
    await wallet('alice')
    await untilKept(1)
    proxy.set('closed')
    const statuses = []
    for (let turn = 0; turn < 20; turn++) {
      statuses.push((await api.call('GET', '/v1/wallets/alice', { key })).status)
    }
    expect(statuses).toEqual(Array(20).fill(200))
    expect(await kept()).toHaveLength(1)
    const warnings = () => api.logText().match(/request log not written, will be retried/g)
    while (!warnings()) await sleep(10)
    proxy.set('open')
    await untilKept(21)
    while (api.requestLog()?.waiting !== 0) await sleep(10)
    expect(api.requestLog()?.dropped).toBe(0)
    expect(warnings()).toHaveLength(1)
  })

  test('waiting entries are written when the API stops', async () => {
    const own = await start()
    await own.call('GET', '/v1/wallets', { key })
    expect(own.requestLog()?.waiting).toBeGreaterThanOrEqual(0)
    await own.stop()
    expect(await kept()).toHaveLength(1)
    expect(own.requestLog()).toEqual({ written: 1, waiting: 0, dropped: 0, unknownCaller: 0 })
  })
})
