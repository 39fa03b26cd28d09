import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type World } from '../../api.js'

let world: World
let key: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
})
afterAll(() => world?.stop())

const post = (body: object) => world.api.call('POST', '/v1/wallets', { key, body })
const get = (userId: string) =>
  world.api.call('GET', `/v1/wallets/${encodeURIComponent(userId)}`, { key })
const invalid = { status: 400, body: { error: 'INVALID_REQUEST' } }

describe('POST /wallets', () => {
  test('success: the wallet resource, with status 201 as of created resources', async () => {
    const { status, body } = await post({ userId: 'alice', metadata: { a: 1 } })
    expect(status).toBe(201)
    expect(body).toMatchObject({ id: expect.any(String), userId: 'alice', metadata: { a: 1 } })
  })

  test('body: `userId` is a string', async () => {
    for (const userId of [1, true, null, {}, ['a']]) {
      expect(await post({ userId })).toMatchObject(invalid)
    }
  })

  test('body: `metadata` is an object', async () => {
    for (const metadata of ['a', 1, true, null, ['a']]) {
      expect(await post({ userId: 'bob', metadata })).toMatchObject(invalid)
    }
  })

  test('body: `userId` alone is enough', async () => {
    expect(await post({ userId: 'carol' })).toMatchObject({ status: 201, body: { metadata: {} } })
  })

  test('body: without `userId` there is no wallet', async () => {
    expect(await post({ metadata: {} })).toMatchObject(invalid)
  })
})

describe('GET /wallets/:userId', () => {
  test('path parameter: `userId` (string), the id that the caller has chosen', async () => {
    for (const userId of ['dave', 'dave@example.com', 'a/b c', 'ключ']) {
      const { body } = await post({ userId })
      expect(await get(userId)).toMatchObject({ status: 200, body: { id: body.id, userId } })
    }
  })

  test('path parameter: a userId without a wallet is 404', async () => {
    expect(await get('nobody')).toMatchObject({ status: 404, body: { error: 'WALLET_NOT_FOUND' } })
  })
})
