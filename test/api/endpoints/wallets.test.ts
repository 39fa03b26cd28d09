import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAddress } from 'ethers'
import fc from 'fast-check'
import { holdsAsync } from '../../domain/plan/holds.js'
import { startWorld, withoutId, type ApiResponse, type ApiWorld } from '../api.js'

let world: ApiWorld
let key: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey('enterprise')
})
afterAll(() => world.stop())

let users = 0
const newUser = () => `user ${(users += 1)}`
const post = (body: unknown, as = key) => world.api.call('POST', '/v1/wallets', { key: as, body })
const postRaw = (raw: string) => world.api.call('POST', '/v1/wallets', { key, raw })
const get = (userId: string, as = key) =>
  world.api.call('GET', `/v1/wallets/${encodeURIComponent(userId)}`, { key: as })

const refusal = (answer: ApiResponse, path: string) => {
  expect([answer.status, answer.body.error]).toEqual([400, 'INVALID_REQUEST'])
  const { issues } = answer.body.details as { issues: { path: string; message: string }[] }
  expect(issues).toContainEqual({ path, message: expect.any(String) })
}

describe('POST /v1/wallets', () => {
  test('201: creates a wallet for all chains, whose sealed key is stored with it', async () => {
    const userId = newUser()
    const { status, body } = await post({ userId, metadata: { tier: 'gold' } })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^svc_wallet_[0-9a-z]{26}$/),
      userId,
      address: expect.any(String),
      chainType: 'ethereum',
      chains: ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia'],
      metadata: { tier: 'gold' },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    expect(isAddress(body.address)).toBe(true)
    const secret = await world.database.db('wallet_secret').where({ wallet_id: body.id }).first<{
      sealed: Buffer
    }>()
    expect(secret.sealed).toHaveLength(113)
  })

  test('metadata is optional', async () => {
    expect(await post({ userId: newUser() })).toMatchObject({ status: 201, body: { metadata: {} } })
  })

  test('200: the same user again is the same wallet, key order aside', async () => {
    const userId = newUser()
    const first = await post({ userId, metadata: { a: 1, b: [2] } })
    const second = await post({ metadata: { b: [2], a: 1 }, userId })
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
  })

  test('16 concurrent calls for one user create one wallet', async () => {
    const userId = newUser()
    const answers = await Promise.all(Array.from({ length: 16 }, () => post({ userId })))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([...Array<number>(15).fill(200), 201])
    expect(new Set(answers.map(({ body }) => body.address)).size).toBe(1)
    const rows = await world.database.db('wallet').where({ user_id: userId })
    expect(rows).toHaveLength(1)
  })

  test('error: INVALID_REQUEST user_id_taken with other metadata, and nothing changes', async () => {
    const userId = newUser()
    const { body: before } = await post({ userId, metadata: { a: 1 } })
    const answer = await post({ userId, metadata: { a: 2 } })
    refusal(answer, 'userId')
    expect(answer.body.details.reason).toBe('user_id_taken')
    expect((await get(userId)).body).toEqual(before)
  })

  test('two accounts may use one userId', async () => {
    const userId = newUser()
    const [mine, theirs] = [await post({ userId }), await post({ userId }, await world.newKey())]
    expect(theirs.status).toBe(201)
    expect(theirs.body.address).not.toBe(mine.body.address)
  })

  const odd: [string, string][] = [
    ['numbers', '{"zero":0,"minus":-1.5,"small":1e-7,"large":9007199254740991,"text":"1.0"}'],
    ['unicode', '{"ключ":"значение","😀":"\\ud83d\\ude00","\\u00e9":"e\\u0301"}'],
    ['nesting', '{"a":{"b":{"c":{"d":{}}}},"list":[[[[]]]]}'],
    ['empty keys and values', '{"":"","a":null,"b":[],"c":{},"d":false}'],
    ['keys of prototypes', '{"__proto__":{"admin":true},"constructor":1,"toString":"x"}'],
    ['escapes', '{"a":"\\\\u0000","b":"\\\\ud800","c":"\\"\\n\\t","d":"<script>"}'],
    ['keys like columns', '{"id":"x","account_id":"y","$ref":1,"a.b":2}'],
  ]
  test.each(odd)('metadata is returned unchanged: %s', async (_title, json) => {
    const userId = newUser()
    const raw = `{"userId":${JSON.stringify(userId)},"metadata":${json}}`
    const created = await postRaw(raw)
    expect(created.status).toBe(201)
    const sent = JSON.stringify(JSON.parse(json))
    expect(created.text).toContain(`"metadata":${sent},`)
    expect((await get(userId)).text).toContain(`"metadata":${sent},`)
    expect((await postRaw(raw)).status).toBe(200)
  })

  test('metadata is returned unchanged or rejected', async () => {
    const property = fc.asyncProperty(
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 }),
      async (metadata) => {
        const userId = newUser()
        const { status, text } = await post({ userId, metadata })
        if (status === 400) return
        expect(status).toBe(201)
        expect(text).toContain(`"metadata":${JSON.stringify(metadata)},`)
        expect((await get(userId)).text).toBe(text)
      },
    )
    await holdsAsync(property, 25)
  })

  const refused: [string, string, string][] = [
    ['no userId', '{}', 'userId'],
    ['an empty userId', '{"userId":""}', 'userId'],
    ['a number as userId', '{"userId":1}', 'userId'],
    ['a long userId', `{"userId":"${'x'.repeat(129)}"}`, 'userId'],
    ['NUL in the userId', '{"userId":"a\\u0000b"}', 'userId'],
    ['a lone surrogate in the userId', '{"userId":"\\ud800"}', 'userId'],
    ['metadata as a list', '{"userId":"a","metadata":[]}', 'metadata'],
    ['metadata as text', '{"userId":"a","metadata":"{}"}', 'metadata'],
    ['metadata null', '{"userId":"a","metadata":null}', 'metadata'],
    ['NUL in metadata', '{"userId":"a","metadata":{"a":"\\u0000"}}', 'metadata'],
    ['NUL in a key of metadata', '{"userId":"a","metadata":{"\\u0000":1}}', 'metadata'],
    ['a lone surrogate in metadata', '{"userId":"a","metadata":{"a":["\\udfff"]}}', 'metadata'],
    ...['9007199254740993', '1.000000000000000001', '0.123456789012345678', '1e-400', '1e400'].map(
      (number): [string, string, string] => [
        `the number ${number}, which loses digits`,
        `{"userId":"a","metadata":{"a":{"b":${number}}}}`,
        'metadata.a.b',
      ],
    ),
    ['a name twice in metadata', '{"userId":"a","metadata":{"a":1,"a":1}}', 'metadata.a'],
    ['six levels', '{"userId":"a","metadata":{"a":{"b":{"c":{"d":{"e":{}}}}}}}', 'metadata'],
    [
      'thousands of levels',
      `{"userId":"a","metadata":{"a":${'['.repeat(7_000)}${']'.repeat(7_000)}}}`,
      'metadata',
    ],
    ['5 kB of metadata', `{"userId":"a","metadata":{"a":"${'x'.repeat(5_000)}"}}`, 'metadata'],
    [
      '4 kB of two-byte letters',
      `{"userId":"a","metadata":{"a":"${'é'.repeat(2_100)}"}}`,
      'metadata',
    ],
    ['an unknown field', '{"userId":"a","admin":true}', 'admin'],
    ['__proto__', '{"userId":"a","__proto__":{"userId":"b"}}', '__proto__'],
    ['a list', '[]', ''],
  ]
  test.each(refused)('error: INVALID_REQUEST for %s', async (_title, raw, path) => {
    refusal(await postRaw(raw), path)
  })

  test('error: INVALID_REQUEST names every wrong field', async () => {
    const answer = await post({ userId: 1, metadata: [], one: 1, two: 2 })
    for (const path of ['userId', 'metadata', 'one', 'two']) refusal(answer, path)
  })

  test('rejected calls stored nothing', async () => {
    expect(await world.database.db('wallet').whereIn('user_id', ['a', ''])).toEqual([])
  })

  test('error: UNAVAILABLE until the signer has published its key', async () => {
    await world.database.db('kek').update({ active: false })
    const answer = await post({ userId: newUser() })
    await world.database.db('kek').update({ active: true })
    expect([answer.status, answer.body.error]).toEqual([503, 'UNAVAILABLE'])
    expect(answer.headers.get('retry-after')).toBe('1')
  })
})

describe('GET /v1/wallets/:userId', () => {
  test('200: the wallet as it was created', async () => {
    const userId = newUser()
    const { body } = await post({ userId, metadata: { a: 1 } })
    const answer = await get(userId)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual(body)
  })

  test.each(['a/b', 'ü😀', '%', '?x=1#y', "'; drop table wallet; --", 'A+B c', '__proto__'])(
    'finds the user %j',
    async (userId) => {
      const { body } = await post({ userId })
      expect((await get(userId)).body).toEqual(body)
    },
  )

  test('error: WALLET_NOT_FOUND alike for an unknown user and for one of another account', async () => {
    const userId = newUser()
    await post({ userId })
    const stranger = await world.newKey()
    const [theirs, unknown] = [await get(userId, stranger), await get('unknown', stranger)]
    expect([theirs.status, theirs.body.error]).toEqual([404, 'WALLET_NOT_FOUND'])
    expect(withoutId(theirs)).toBe(withoutId(unknown))
  })

  test.each([
    ['NUL', '%00'],
    ['malformed percent-encoding', '%E0%A4%A'],
    ['a lone percent sign', '%'],
    ['too long', 'x'.repeat(129)],
  ])('error: INVALID_REQUEST for %s in the path', async (_title, path) => {
    const { status, body } = await world.api.call('GET', `/v1/wallets/${path}`, { key })
    expect([status, body.error]).toEqual([400, 'INVALID_REQUEST'])
    expect(body.details.issues).toHaveLength(1)
  })
})
