import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type World } from '../api.js'

let world: World
let key: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
  await world.api.call('POST', '/v1/wallets', { key, body: { userId: 'alice' } })
})
afterAll(() => world?.stop())

const get = (path: string, headers = {}) => world.api.call('GET', path, { key, headers })

describe('Versioning', () => {
  test('versioning is by URL path: `v1` is part of the base address', async () => {
    expect((await get('/v1/wallets/alice')).status).toBe(200)
    expect((await get('/wallets/alice')).status).toBe(404)
  })

  test('versioning is by URL path only: no header and no query choose another', async () => {
    const headers = { 'x-api-version': '2', accept: 'application/vnd.steward.v2+json' }
    const { status, body } = await get('/v1/wallets/alice', headers)
    expect([status, body.userId]).toEqual([200, 'alice'])
  })

  test('the current version is `v1`: other path segments do not exist', async () => {
    for (const version of ['v0', 'v2', 'latest']) {
      expect((await get(`/${version}/wallets/alice`)).status).toBe(404)
    }
  })

  test('the published document names the same version', async () => {
    const { body } = await get('/openapi.json')
    expect(body).toMatchObject({ info: { version: '1' }, servers: [{ url: '/v1' }] })
  })

  test.each([
    ['POST', '/wallets'],
    ['GET', '/wallets/{userId}'],
    ['GET', '/balances/{walletId}'],
    ['GET', '/yields'],
    ['POST', '/intents'],
    ['GET', '/intents/{intentId}'],
    ['POST', '/demo/fund'],
    ['GET', '/dashboard/credits'],
  ])('`v1` is kept backward compatible: it has %s %s', async (method, path) => {
    const { body } = await get('/openapi.json')
    const { paths } = body as unknown as { paths: Record<string, object> }
    expect(Object.keys(paths[path] ?? {})).toContain(method.toLowerCase())
  })
})
