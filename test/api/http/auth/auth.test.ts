import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { startWorld, withoutId, type ApiWorld } from '../../api.js'

let world: ApiWorld
let valid: string

beforeAll(async () => {
  world = await startWorld()
  valid = await world.newKey()
})
afterAll(() => world.stop())

async function keyWith(column: 'revoked_at' | 'expires_at'): Promise<string> {
  const key = await world.newKey()
  const key_hash = createHash('sha256').update(key).digest()
  const past = new Date(Date.now() - 1_000)
  await world.database.db('api_key').where({ key_hash }).update(column, past)
  return key
}

const unknownKey = () => {
  const secret = 'a'.repeat(56)
  return `svc_sk_${secret}${crc32(secret).toString(16).padStart(8, '0')}`
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
type BadHeader = [title: string, make: () => object | Promise<object>]
const missing: BadHeader[] = [
  ['no header', () => ({})],
  ['an empty header', () => ({ authorization: '' })],
  ['another header', () => ({ 'x-api-key': valid })],
  ['a payment', () => payment],
  ['a cookie', () => ({ cookie: `authorization=Bearer ${valid}; api_key=${valid}` })],
]
const malformed: BadHeader[] = [
  ['no scheme', () => ({ authorization: valid })],
  ['another scheme', () => ({ authorization: `Basic ${valid}` })],
  ['two keys', () => ({ authorization: `Bearer ${valid} ${valid}` })],
  ['a short key', () => bearer('svc_sk_123')],
  ['upper case', () => bearer(valid.toUpperCase())],
  ['SQL', () => bearer(`svc_sk_'or'1'='1`)],
]
const flip = (digit: string) => (digit === '0' ? '1' : '0')
const mistyped: BadHeader[] = [
  ['a wrong last digit', () => bearer(valid.slice(0, -1) + flip(valid.slice(-1)))],
  ['a wrong first digit', () => bearer(`svc_sk_${flip(valid.charAt(7))}${valid.slice(8)}`)],
  ['two swapped digits', () => bearer(`svc_sk_01${unknownKey().slice(9)}`)],
]
const dead: BadHeader[] = [
  ['an unknown key', () => bearer(unknownKey())],
  ['a revoked key', async () => bearer(await keyWith('revoked_at'))],
  ['an expired key', async () => bearer(await keyWith('expires_at'))],
]
const badHeaders = [...missing, ...malformed, ...mistyped, ...dead]
/** A payment as the X402 scheme sends it. */
const payment = {
  'x-payment': Buffer.from('{"x402Version":1,"scheme":"exact"}').toString('base64'),
}
const requests: [string, string][] = [
  ['POST', '/v1/wallets'],
  ['GET', '/v1/wallets/user'],
  ['POST', '/v1/intents'],
  ['GET', '/v1/intents/intent_1'],
  ['POST', '/v1/demo/fund'],
  ['GET', '/v1/unknown'],
  ['DELETE', '/v1/wallets'],
  ['GET', '/v1/wallets/%E0%A4%A'],
]

describe('error: UNAUTHORIZED', () => {
  test.each(badHeaders)('%s, on every path, before any other check', async (_title, make) => {
    const headers = await make()
    const answers = await Promise.all(
      requests.map(([method, path]) =>
        world.api.call(method, path, {
          headers,
          ...(method === 'POST' ? { raw: '{not json' } : {}),
        }),
      ),
    )
    for (const { status, body, headers: answered } of answers) {
      expect(status).toBe(401)
      expect(body).toEqual({
        error: 'UNAUTHORIZED',
        message: expect.any(String),
        details: {
          docs: '/docs/errors#UNAUTHORIZED',
          requestId: answered.get('x-request-id'),
        },
      })
      expect(answered.get('www-authenticate')).toBe('Bearer')
    }
  })

  test.each([
    ['missing', missing, 'The API key is missing. Send it as `Authorization: Bearer svc_sk_…`.'],
    [
      'malformed',
      malformed,
      'The API key is malformed. Send `Authorization: Bearer` and the key as it was issued: `svc_sk_` and 64 hexadecimal characters.',
    ],
    [
      'mistyped',
      mistyped,
      'The checksum of the API key does not match: a character is probably mistyped. Copy the key again.',
    ],
    ['unknown, revoked or expired', dead, 'The API key is unknown, revoked or expired.'],
  ])('is the same response for every key that is %s', async (_title, headers, message) => {
    const answers = []
    for (const [, make] of headers) {
      answers.push(await world.api.call('GET', '/v1/wallets/x', { headers: await make() }))
    }
    expect(new Set(answers.map(withoutId)).size).toBe(1)
    expect(answers[0]?.body.message).toBe(message)
  })

  test('neither the response nor the log contains a key', async () => {
    const { text } = await world.api.call('GET', '/v1/wallets/x', { key: unknownKey() })
    expect(text + world.api.logText()).not.toMatch(/svc_sk_[0-9a-f]/)
  })
})

describe('a key', () => {
  test('has the prefix `svc_sk_` and 64 hexadecimal characters', () => {
    expect(valid).toMatch(/^svc_sk_[0-9a-f]{64}$/)
  })

  test('is not read from the query', async () => {
    const path = `/dashboard/credits?api_key=${valid}&authorization=Bearer%20${valid}`
    expect((await world.api.call('GET', path)).status).toBe(401)
  })

  test('is stored only as a digest', async () => {
    const rows = await world.database.db('api_key').select('*')
    expect(JSON.stringify(rows)).not.toContain(valid.slice('svc_sk_'.length, -8))
  })

  test('is not for browsers: there are no CORS headers', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const answers = [
      await world.api.call('OPTIONS', '/v1/intents', { key: valid, headers }),
      await world.api.call('GET', '/dashboard/credits', { key: valid, headers }),
    ]
    const names = answers.flatMap(({ headers: answered }) => [...answered.keys()])
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([])
  })
})

describe('a valid key', () => {
  test.each(['Bearer', 'bearer', 'BEARER'])('passes with the scheme %s', async (scheme) => {
    const headers = { authorization: `${scheme} ${valid}` }
    const { status, body } = await world.api.call('GET', '/v1/wallets/unknown', { headers })
    expect([status, body.error]).toEqual([404, 'WALLET_NOT_FOUND'])
  })
})

describe('without a key', () => {
  test('GET /healthz responds while the process runs', async () => {
    expect(await world.api.call('GET', '/healthz')).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    })
  })
})
