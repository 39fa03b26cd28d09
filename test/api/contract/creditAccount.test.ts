import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount, createApiKey, grantCredits } from '../../../db/tenants/accounts.js'
import { startWorld, type World } from '../api.js'

let world: World
let key: string

/** A Pro account that has bought 500 credits and used one. */
beforeAll(async () => {
  world = await startWorld()
  const { db } = world.database
  const { id } = await createAccount(db, { name: 'test', plan: 'pro' })
  await grantCredits(db, id, { credits: 500 })
  key = await createApiKey(db, id, { name: 'test' })
  await world.api.call('POST', '/v1/wallets', { key, body: { userId: 'alice' } })
})
afterAll(() => world?.stop())

const read = async () => (await world.api.call('GET', '/dashboard/credits', { key })).body

describe('Credit account', () => {
  test('balance: a number, what is left of the monthly and the purchased credits', async () => {
    expect((await read()).balance).toBe(10_499)
  })

  test('totalPurchased: a number', async () => {
    expect((await read()).totalPurchased).toBe(500)
  })

  test('totalUsed: a number', async () => {
    expect((await read()).totalUsed).toBe(1)
  })

  test('plan: a string, such as `pro`', async () => {
    expect((await read()).plan).toBe('pro')
  })

  test('it has exactly the documented fields', async () => {
    const fields = ['balance', 'totalPurchased', 'totalUsed', 'plan']
    expect(Object.keys(await read()).sort()).toEqual(fields.sort())
  })
})
