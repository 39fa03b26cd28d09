import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connect as connectSocket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { connect, type Db } from '../../../db/client/connect.js'
import { connectTemporal } from '../../../workflows/client/connect.js'
import { silentChains } from '../../planning/chains.js'
import { startApi, startWorld, type ApiResponse, type TestApi, type ApiWorld } from '../api.js'
import { startTcpProxy, type TcpProxy } from '../../support/tcpProxy.js'

let world: ApiWorld
let key: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
})
afterAll(() => world.stop())

/** Every error has the documented shape and the id that the header names, and shows nothing inside. */
const expectError = (answer: ApiResponse, status: number, code: string) => {
  expect([answer.status, answer.body.error]).toEqual([status, code])
  expect(Object.keys(answer.body)).toEqual(['error', 'message', 'details'])
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/)
  expect(answer.body.details.requestId).toBe(answer.headers.get('x-request-id'))
  expect(answer.body.details.docs).toBe(`/docs/errors#${code}`)
  expect(answer.text).not.toMatch(/node_modules|\.ts:|at \w+ \(|select |Error:/i)
}

const paths = ['/v1/wallets', '/v1/intents', '/v1/demo/fund']
const each = (call: (path: string) => Promise<ApiResponse>) => Promise.all(paths.map(call))

describe('error: INVALID_REQUEST', () => {
  test.each(['{', '{"a":}', "{'a':1}", '"text"', '1', 'null', '\0', '{"a":1}}', '[1,]'])(
    'for the body %j',
    async (raw) => {
      for (const answer of await each((path) => world.api.call('POST', path, { key, raw }))) {
        expectError(answer, 400, 'INVALID_REQUEST')
      }
    },
  )

  test.each([
    ['text/plain', '{}'],
    ['application/x-www-form-urlencoded', 'userId=a'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['application/json; charset=latin1', '{}'],
    ['application/jsonp', '{}'],
  ])('for the content type %s', async (type, raw) => {
    const request = { key, raw, headers: { 'content-type': type } }
    for (const answer of await each((path) => world.api.call('POST', path, request))) {
      expectError(answer, 400, 'INVALID_REQUEST')
    }
  })

  test('without a body', async () => {
    for (const answer of await each((path) => world.api.call('POST', path, { key }))) {
      expectError(answer, 400, 'INVALID_REQUEST')
    }
  })

  test('for a body of 17 kB, compressed or not', async () => {
    const raw = JSON.stringify({ userId: 'a', metadata: { a: 'x'.repeat(17_000) } })
    const plain = await world.api.call('POST', '/v1/wallets', { key, raw })
    expectError(plain, 400, 'INVALID_REQUEST')
    expect(plain.body.message).toContain('16 kB')
    expectError(await sendBytes(gzipSync(raw), { encoding: 'gzip' }), 400, 'INVALID_REQUEST')
  })

  test('for an unknown encoding and for a broken one', async () => {
    expectError(await sendBytes(Buffer.from('{}'), { encoding: 'zstd' }), 400, 'INVALID_REQUEST')
    expectError(await sendBytes(Buffer.from('{}'), { encoding: 'gzip' }), 400, 'INVALID_REQUEST')
  })

  test.each([
    [
      'bytes that are not UTF-8',
      Buffer.from([...Buffer.from('{"userId":"'), 0xff, 0x22, 0x7d]),
      'UTF-8',
    ],
    ['a repeated name', Buffer.from('{"userId":"a","userId":"b"}'), 'more than once'],
    ['an inexact number', Buffer.from('{"userId":1.000000000000000001}'), 'loses digits'],
  ])('for %s on every door, and nothing is stored', async (_what, body, fault) => {
    const doors = [...paths, '/v1/webhooks', '/mcp', '/dashboard/api/session']
    for (const path of doors) {
      const answer = await sendBytes(body, { path })
      expectError(answer, 400, 'INVALID_REQUEST')
      expect([path, answer.body.message]).toEqual([path, expect.stringContaining(fault)])
    }
    expect(await world.database.db('wallet').whereIn('user_id', ['\ufffd', 'a', 'b'])).toEqual([])
  })

  test.each(['%ff', '%ef%bf%bd', '%20', '%0a', '%e2%80%8b'])(
    'for the id %s in a path or a query',
    async (id) => {
      const calls = [`/v1/wallets/${id}`, `/v1/wallets?userId=${id}`, `/v1/intents/${id}`]
      for (const path of calls) {
        expectError(await world.api.call('GET', path, { key }), 400, 'INVALID_REQUEST')
      }
    },
  )
})

type Bytes = { path?: string; encoding?: string }

async function sendBytes(
  body: Buffer,
  { path = '/v1/wallets', encoding }: Bytes = {},
): Promise<ApiResponse> {
  const headers = {
    ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    origin: world.api.url,
    ...(encoding ? { 'content-encoding': encoding } : {}),
  }
  const bytes = new Uint8Array(body)
  const response = await fetch(world.api.url + path, { method: 'POST', headers, body: bytes })
  const text = await response.text()
  const { status, headers: answered } = response
  return { status, headers: answered, text, body: JSON.parse(text) as ApiResponse['body'] }
}

describe('error: NOT_FOUND', () => {
  test.each([
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['GET', '/v2/wallets/a'],
    ['GET', '/v1/wallets/a/b'],
    ['POST', '/v1/unknown'],
    ['OPTIONS', '/v1/unknown'],
    ['GET', '/healthz/x'],
  ])('%s %s', async (method, path) => {
    expectError(await world.api.call(method, path, { key }), 404, 'NOT_FOUND')
  })
})

/** What came back for bytes that no HTTP client would send. */
function sendRaw(api: TestApi, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connectSocket(api.port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => (answer += String(chunk)))
    socket.on('close', () => resolve(answer)).on('error', reject)
  })
}

describe('malformed HTTP', () => {
  test.each([
    ['no request line', 'hello\r\n\r\n'],
    ['a space in the path', 'GET /v1/wallets/a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['20 kB of headers', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ])('%s: JSON, and the connection ends', async (_title, text) => {
    const [head = '', body = ''] = (await sendRaw(world.api, text)).split('\r\n\r\n')
    const answer = JSON.parse(body) as ApiResponse['body']
    expect(head).toContain('HTTP/1.1 400 Bad Request')
    expect(answer.error).toBe('INVALID_REQUEST')
    expect(answer.details.docs).toBe('/docs/errors#INVALID_REQUEST')
    expect(head).toContain(`X-Request-Id: ${String(answer.details.requestId)}`)
  })
})

describe('X-Request-Id', () => {
  test('is new for each response; a value from the caller is ignored', async () => {
    const headers = { 'x-request-id': 'mine' }
    const ids = new Set<string | null>()
    for (const path of ['/healthz', '/v1/wallets/a', '/x']) {
      ids.add((await world.api.call('GET', path, { key, headers })).headers.get('x-request-id'))
    }
    expect(ids.size).toBe(3)
    expect(ids).not.toContain('mine')
  })

  test('is logged, with the pattern of the path instead of its values', async () => {
    const { headers } = await world.api.call('GET', '/v1/wallets/very-private', { key })
    const lines = world.api.logText().split('\n')
    const line = lines.find((text) => text.includes(headers.get('x-request-id') ?? '-'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      ...{ method: 'GET', path: '/v1/wallets/:userId', status: 404, msg: 'request' },
    })
    expect(world.api.logText()).not.toContain('very-private')
  })
})

describe('error: INTERNAL', () => {
  test('an unexpected exception shows neither its message nor its stack', async () => {
    const silent = silentChains()
    const registry = {
      ...silent.registry,
      get chains(): never {
        throw new Error('select secret from postgres://user:hunter2@db')
      },
    }
    const temporal = world.temporal.client
    const broken = await startApi({ db: world.db, temporal, ...silent, registry })
    const answer = await broken.call('POST', '/v1/wallets', { key, body: { userId: 'broken' } })
    expectError(answer, 500, 'INTERNAL')
    expect(answer.text + broken.logText()).not.toContain('hunter2')
    expect(broken.logText()).toContain('request failed')
    expect(broken.logText()).toContain(String(answer.body.details.requestId))
    await broken.stop()
  })
})

describe('error: UNAVAILABLE without Postgres', () => {
  let proxy: TcpProxy
  let db: Db
  let api: TestApi
  let stop: () => Promise<void>

  beforeAll(async () => {
    const url = new URL(world.database.urlAs('steward_api'))
    proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) })
    url.hostname = '127.0.0.1'
    url.port = String(proxy.port)
    db = connect(url.href, 4)
    api = await startApi({ db, temporal: world.temporal.client, ...silentChains() })
    stop = async () => {
      await api.stop()
      await proxy.stop()
      await db.destroy()
    }
  })
  afterAll(() => stop())

  const readBy = (one: TestApi) => one.call('GET', '/v1/wallets/unknown', { key })
  const read = () => readBy(api)
  /** The first one may still meet a connection of before. */
  const expectRecovery = async () => {
    for (let attempt = 1; (await read()).status !== 404; attempt++) expect(attempt).toBeLessThan(10)
  }
  const hasFailedTwice = (one: TestApi, { body }: ApiResponse) => {
    const lines = one.logText().split('\n')
    const own = lines.filter((line) => line.includes(String(body.details.requestId)))
    return own.filter((line) => line.includes('request failed')).length === 2
  }
  const expectUnavailable = (answer: ApiResponse) => {
    expectError(answer, 503, 'UNAVAILABLE')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }

  test('connections are cut and rejected: 503, then it recovers', async () => {
    expect((await read()).status).toBe(404)
    proxy.set('closed')
    for (const answer of await Promise.all([read(), read(), read()])) expectUnavailable(answer)
    const body = { walletId: 'w', action: 'lend', amount: 1 }
    expectUnavailable(await api.call('POST', '/v1/intents', { key, body }))
    expect(await api.call('GET', '/readyz')).toMatchObject({
      status: 503,
      body: { postgres: false },
    })
    expect((await api.call('GET', '/healthz')).status).toBe(200)
    proxy.set('open')
    await expectRecovery()
  })

  // A frozen server answers never: what is answered all the same is answered by a limit.
  test('the server is frozen: 503, then it recovers', async () => {
    await Promise.all([read(), read()])
    proxy.set('frozen')
    const parts = { db, temporal: world.temporal.client, ...silentChains() }
    const hasty = await startApi({ ...parts, answerMs: 100 })
    const answers = await Promise.all(Array.from({ length: 6 }, () => readBy(hasty)))
    for (const answer of answers) expectUnavailable(answer)
    proxy.set('closed')
    proxy.set('open')
    // What was answered by the time limit fails now, in the log only: its connection serves others.
    while (!answers.some((answer) => hasFailedTwice(hasty, answer))) await sleep(20)
    expect(await Promise.all(Array.from({ length: 6 }, read))).toHaveLength(6)
    await expectRecovery()
    await hasty.stop()
  })
})

describe('error: UNAVAILABLE for a transient conflict', () => {
  const { body, name } = { body: { userId: 'conflicted' }, name: { 'idempotency-key': 'conflict' } }
  const post = () => world.api.call('POST', '/v1/wallets', { key, body, headers: name })
  const remaining = async () =>
    (await world.api.call('GET', '/dashboard/credits', { key })).body.balance

  /** Has Postgres end every statement that stores a wallet, with this code. */
  const refuse = (code: string) =>
    world.database.db.raw(`
      create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'select secret' using errcode = '${code}'; end $$;
      create trigger refuse before insert on wallet for each row execute function refuse()`)
  const allow = () => world.database.db.raw('drop function if exists refuse cascade')
  afterEach(allow)

  test.each([
    ['a deadlock', '40P01'],
    ['a serialization failure', '40001'],
    ['a lock that was not given in time', '55P03'],
    ['a statement that took too long', '57014'],
    ['too many sessions', '53300'],
  ])('%s: 503, nothing is stored or charged, and a repeat succeeds', async (_title, code) => {
    const before = await remaining()
    await refuse(code)
    const refused = await post()
    expectError(refused, 503, 'UNAVAILABLE')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('x-credits-charged')).toBe('0')
    expect(await remaining()).toBe(before)
    await allow()
    const done = await post()
    expect([done.status, done.headers.has('idempotent-replayed')]).toEqual([201, false])
    await world.database.db('wallet_secret').where({ wallet_id: done.body.id }).delete()
    await world.database.db('wallet').where({ id: done.body.id }).delete()
    await world.database.db('idempotency_key').delete()
  })

  test('a violated constraint is INTERNAL: a repeat would fail again', async () => {
    await refuse('23514')
    expectError(await post(), 500, 'INTERNAL')
  })
})

describe('Temporal does not respond', () => {
  test('201, without waiting for progress', async () => {
    const silent = await startTcpProxy()
    const temporal = connectTemporal(`127.0.0.1:${silent.port}`, 'default')
    const api = await startApi({ db: world.db, temporal, ...silentChains() })
    const wallet = await api.call('POST', '/v1/wallets', { key, body: { userId: 'silent' } })
    const body = { walletId: wallet.body.id, action: 'lend', amount: 1 }
    const created = await api.call('POST', '/v1/intents', { key, body })
    expect(created).toMatchObject({ status: 201, body: { status: 'pending' } })
    const read = await api.call('GET', `/v1/intents/${created.body.id}`, { key })
    expect(read).toMatchObject({ status: 200, body: { status: 'pending' } })
    await api.stop()
    await silent.stop()
    await temporal.connection.close()
  })
})
