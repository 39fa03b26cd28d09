import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type Request, type World } from '../api.js'

let world: World
let key: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
})
afterAll(() => world?.stop())

const lend = { walletId: 'svc_wallet_x', action: 'lend', amount: 1 }
const writes: [path: string, body: object][] = [
  ['/v1/wallets', { userId: 'alice' }],
  ['/v1/intents', lend],
  ['/v1/demo/fund', { walletId: 'svc_wallet_x' }],
]
const reads = [
  ...['/v1/wallets/alice', '/v1/balances/svc_wallet_x', '/v1/yields', '/v1/intents/intent_x'],
  '/dashboard/credits',
]
const post = (path: string, request: Request) => world.api.call('POST', path, request)
const read = (request: Request) => world.api.call('GET', '/dashboard/credits', request)
const bearer = (authorization: string) => read({ headers: { authorization } })
const refused = { status: 401, body: { error: 'UNAUTHORIZED' } }
/** A payment as the X402 scheme sends it. */
const payment = {
  'x-payment': Buffer.from('{"x402Version":1,"scheme":"exact"}').toString('base64'),
}

describe('Authentication', () => {
  test.each(reads)('GET %s requires an API key', async (path) => {
    expect(await world.api.call('GET', path)).toMatchObject(refused)
    expect((await world.api.call('GET', path, { key })).status).not.toBe(401)
  })

  test.each(writes)('POST %s requires an API key', async (path, body) => {
    expect(await post(path, { body })).toMatchObject(refused)
    expect((await post(path, { body, key })).status).not.toBe(401)
  })

  test('the key is sent as header `Authorization: Bearer <API_KEY>`', async () => {
    expect(await bearer(`Bearer ${key}`)).toMatchObject({ status: 200 })
  })

  test.each(['', 'Basic ', 'Token '])('the key is not accepted after %j', async (scheme) => {
    expect(await bearer(`${scheme}${key}`)).toMatchObject(refused)
  })

  test('the key is not accepted in another header, in the query or in a cookie', async () => {
    const headers = { 'x-api-key': key, cookie: `Authorization=Bearer ${key}` }
    const path = `/dashboard/credits?api_key=${key}&authorization=Bearer%20${key}`
    expect(await world.api.call('GET', path, { headers })).toMatchObject(refused)
  })

  test('key format: prefix `svc_sk_` followed by 64 hexadecimal characters', () => {
    expect(key).toMatch(/^svc_sk_[0-9a-f]{64}$/)
  })

  test('keys are kept secret: the service stores none that could be read', async () => {
    const rows = await world.database.db('api_key').select('*')
    expect(JSON.stringify(rows)).not.toContain(key.slice('svc_sk_'.length, -8))
  })

  test('keys are never used in client-side code: a browser gets no leave of the service', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const preflight = await world.api.call('OPTIONS', '/v1/intents', { key, headers })
    const answers = [preflight, await read({ key, headers })]
    const names = answers.flatMap(({ headers: answered }) => [...answered.keys()])
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([])
  })

  test('a missing key yields 401 UNAUTHORIZED', async () => {
    expect(await read({})).toMatchObject(refused)
  })

  test.each([
    ['malformed', 'svc_sk_123'],
    ['unknown', `svc_sk_${'0'.repeat(64)}`],
    ['of another prefix', `sk_${'0'.repeat(64)}`],
  ])('an invalid key yields 401 UNAUTHORIZED: %s', async (_title, invalid) => {
    expect(await read({ key: invalid })).toMatchObject(refused)
  })

  test('POST /intents accepts an API key only: a payment (X402) is no substitute', async () => {
    expect(await post('/v1/intents', { body: lend, headers: payment })).toMatchObject(refused)
  })

  test.each(writes)('X402 is not supported for write operations: POST %s', async (path, body) => {
    expect(await post(path, { body, headers: payment })).toMatchObject(refused)
  })

  test('X402 is not offered: 401 asks for the Bearer scheme', async () => {
    const { headers } = await post('/v1/intents', { body: lend })
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })
})
