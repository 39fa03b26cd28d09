import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { startWorld, type World } from '../api.js'

/** Everything that any session asks, before it is made. */
const asked = jest.spyOn(pg.Client.prototype as { query(asked: unknown): unknown }, 'query')

let world: World
let key: string

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
})
beforeEach(() => {
  asked.mockClear()
})
afterAll(async () => {
  await world?.stop()
  asked.mockRestore()
})

const post = (userId: string, headers?: Record<string, string>) =>
  world.api.call('POST', '/v1/wallets', { key, body: { userId }, ...(headers && { headers }) })

/** What writes, and what begins or ends a transaction, in its order. */
const writes = () =>
  asked.mock.calls
    .map(([one]) => (typeof one === 'string' ? one : (one as { text: string }).text))
    .map(
      (text) => /make_wallet|insert_wallet|charge_call|^begin|^commit|^rollback/i.exec(text)?.[0],
    )
    .filter((text) => text !== undefined)
    .map((text) => text.toLowerCase())

describe('POST /v1/wallets', () => {
  test('a wallet is charged and stored by one statement', async () => {
    expect((await post('alice')).status).toBe(201)
    expect(writes()).toEqual(['make_wallet'])
  })

  test('with a name it is stored in one transaction with its answer', async () => {
    expect((await post('bob', { 'idempotency-key': 'bob' })).status).toBe(201)
    expect(writes()).toEqual(['begin', 'charge_call', 'insert_wallet', 'commit'])
  })

  test('a user who has a wallet gets it in a transaction, and is charged once', async () => {
    const first = await post('carol')
    const again = await post('carol')
    expect([again.status, again.body]).toEqual([200, first.body])
    expect(again.headers.get('x-credits-charged')).toBe('1')
    const { account_id } = await world.database
      .db('wallet')
      .where({ id: first.body.id })
      .first<{ account_id: string }>('account_id')
    const charges = await world.database
      .db('ledger')
      .where({ account_id, reason: 'charge:POST /wallets' })
    expect(charges).toHaveLength(4)
  })
})
