import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { creditAccount } from '../../../api/schemas/resources.js'
import { createAccount, createApiKey, grantCredits } from '../../../db/accounts/accounts.js'
import { startWorld, type ApiWorld } from '../api.js'

let world: ApiWorld

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.stop())

const get = (key?: string, path = '/dashboard/credits') =>
  world.api.call('GET', path, key === undefined ? {} : { key })

describe('GET {host}/dashboard/credits', () => {
  test('200: the monthly credits from the first call on, and the call is free', async () => {
    const key = await world.newKey('free')
    const { status, body, headers } = await get(key)
    expect(status).toBe(200)
    expect(body).toEqual({ balance: 100, totalPurchased: 0, totalUsed: 0, plan: 'free' })
    expect(creditAccount.parse(body)).toEqual(body)
    expect([headers.get('x-credits-charged'), headers.get('x-credits-remaining')]).toEqual([
      '0',
      '100',
    ])
  })

  test('purchased and used credits', async () => {
    const { db } = world.database
    const { id } = await createAccount(db, { name: 'test', plan: 'pro' })
    await grantCredits(db, id, { credits: 500 })
    const key = await createApiKey(db, id, { name: 'test' })
    await world.api.call('POST', '/v1/wallets', { key, body: { userId: 'a' } })
    const { body } = await get(key)
    expect(body).toEqual({ balance: 10_499, totalPurchased: 500, totalUsed: 1, plan: 'pro' })
  })

  test('counts as a request in the rate-limit headers', async () => {
    const key = await world.newKey()
    await get(key)
    const { headers } = await get(key)
    expect(headers.get('x-ratelimit-remaining')).toBe('998')
  })

  test('error: UNAUTHORIZED without a key', async () => {
    const { status, body } = await get()
    expect([status, body.error]).toEqual([401, 'UNAUTHORIZED'])
  })

  test('error: NOT_FOUND below the version', async () => {
    const { status } = await get(await world.newKey(), '/v1/dashboard/credits')
    expect(status).toBe(404)
  })
})
