import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type Answer, type World } from '../api.js'
import { hexAddress, isoUtc, walletId } from './formats.js'

const metadata = { tier: 'gold', limits: { daily: 12.5 }, tags: ['a', null, true], ключ: '😀' }

let world: World
let key: string
let wallet: Answer['body']

beforeAll(async () => {
  world = await startWorld()
  key = await world.newKey()
  wallet = (await create({ userId: 'alice', metadata })).body
})
afterAll(() => world?.stop())

const create = (body: object) => world.api.call('POST', '/v1/wallets', { key, body })
const get = (path: string) => world.api.call('GET', path, { key })

describe('Wallet', () => {
  test('id: a string with the prefix svc_wallet_ and an opaque suffix', () => {
    expect(wallet.id).toMatch(walletId)
  })

  test('id: two wallets have two ids', async () => {
    expect((await create({ userId: 'bob' })).body.id).not.toBe(wallet.id)
  })

  test('id: used in all later operations', async () => {
    const lend = { walletId: wallet.id, action: 'lend', amount: 1 }
    const intent = await world.api.call('POST', '/v1/intents', { key, body: lend })
    const body = { walletId: wallet.id }
    const funding = await world.api.call('POST', '/v1/demo/fund', { key, body })
    for (const { status, body } of [intent, funding]) {
      expect([status, body.walletId]).toEqual([201, wallet.id])
    }
  })

  test('userId: a string that the caller chooses', () => {
    expect(wallet.userId).toBe('alice')
  })

  test('userId: used in GET /wallets/:userId', async () => {
    expect((await get('/v1/wallets/alice')).body).toEqual(wallet)
  })

  test('address: a hexadecimal chain address', () => {
    expect(wallet.address).toMatch(hexAddress)
  })

  test('address: two wallets have two addresses', async () => {
    expect((await create({ userId: 'carol' })).body.address).not.toBe(wallet.address)
  })

  test('chainType: a string, the kind of chain address: `ethereum`', () => {
    expect(wallet.chainType).toBe('ethereum')
  })

  test('chains: an array of strings, the chains that the wallet supports', () => {
    expect(wallet.chains).toEqual(expect.arrayContaining([expect.any(String)]))
  })

  test('chains: a wallet supports all chains automatically', async () => {
    const supported = ['ethereum-sepolia', 'arbitrum-sepolia', 'base-sepolia']
    expect((await create({ userId: 'dave' })).body.chains).toEqual(supported)
  })

  test('metadata: an object, returned unchanged', async () => {
    expect(wallet.metadata).toEqual(metadata)
    expect((await get('/v1/wallets/alice')).text).toContain(JSON.stringify(metadata))
  })

  test('metadata: free-form, whatever the keys are', async () => {
    const odd = { id: 1, '': 'empty', 'a.b': [], $ref: {}, constructor: 'x' }
    expect((await create({ userId: 'erin', metadata: odd })).body.metadata).toEqual(odd)
  })

  test('createdAt: an ISO 8601 UTC timestamp of its creation', async () => {
    const before = Date.now()
    const { createdAt } = (await create({ userId: 'frank' })).body
    expect(createdAt).toMatch(isoUtc)
    expect(Math.abs(Date.parse(String(createdAt)) - before)).toBeLessThan(60_000)
  })

  test('it has exactly the documented fields', () => {
    const fields = ['id', 'userId', 'address', 'chainType', 'chains', 'metadata', 'createdAt']
    expect(Object.keys(wallet).sort()).toEqual(fields.sort())
  })
})
