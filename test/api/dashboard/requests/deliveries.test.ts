import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { delivery } from '../../../../api/schemas/webhooks.js'
import { connect, type Db } from '../../../../db/client/connect.js'
import { newId } from '../../../../db/client/ids.js'
import { dispatchEvents } from '../../../../db/webhooks/sending.js'
import { insertTestIntent, type TestWallet } from '../../../db/rows.js'
import { silentChains } from '../../../planning/chains.js'
import { startWorld, type ApiWorld } from '../../api.js'
import { newPerson, pagesOf, type Person } from '../people.js'

let world: ApiWorld
let worker: Db
let mine: Person
let intentId: string
let hooks: string[]

type DeliveryBody = Record<'id' | 'webhookId' | 'intentId' | 'type' | 'eventId', string>

beforeAll(async () => {
  world = await startWorld(silentChains())
  worker = connect(world.database.urlAs('steward_worker'), 2)
  mine = await newPerson(world, { role: 'viewer' })
  const { db } = world.database
  const { accountId } = mine
  hooks = [newId('wh_'), newId('wh_')]
  for (const id of hooks) {
    await db('webhook').insert({ id, account_id: accountId, url: 'https://example.com/' })
  }
  const id = newId('svc_wallet_')
  const row = { id, account_id: accountId, user_id: 'alice', address: '0xa', metadata: '{}' }
  await db('wallet').insert(row)
  const wallet: TestWallet = { id, accountId, address: '0xa', requestId: 'req_test' }
  intentId = await insertTestIntent(db, wallet, 'planning')
  await insertTestIntent(db, wallet, 'planning')
  const count = async () =>
    (await db('webhook_delivery').where({ account_id: accountId }).pluck('id')).length
  // Two events of each intent and one of the wallet, for two endpoints.
  while ((await count()) < 10) await dispatchEvents(worker, 10)
})
afterAll(async () => {
  await worker.destroy()
  await world.stop()
})

const find = (query: string, { cookie } = mine) =>
  pagesOf(world)('GET', `/deliveries?${query}`, { cookie })
const found = async (query: string, who = mine) =>
  (await find(query, who)).body.data as DeliveryBody[]

describe('GET /deliveries', () => {
  test('lists the deliveries of an intent to all endpoints, newest first', async () => {
    const rows = await found(`intentId=${intentId}`)
    for (const row of rows) expect(delivery.parse(row)).toEqual(row)
    expect(new Set(rows.map((row) => row.intentId))).toEqual(new Set([intentId]))
    const places = rows.map(({ webhookId, type }) => `${hooks.indexOf(webhookId)} ${type}`)
    expect(places.sort()).toEqual([
      ...['0 intent.created', '0 intent.planned', '1 intent.created', '1 intent.planned'],
    ])
    const numbers = rows.map(({ id }) => Number(id.slice(4)))
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a))
  })

  test('finds one delivery by its id, and names its intent, event and endpoint', async () => {
    const [one] = await found(`intentId=${intentId}`)
    expect(await found(`deliveryId=${one?.id}`)).toEqual([one])
    expect(await found('deliveryId=whd_999999')).toEqual([])
  })

  test('a delivery of an event of the account names no intent', async () => {
    const { cookie } = mine
    const { body } = await pagesOf(world)('GET', `/webhooks/${hooks[0]}/deliveries`, { cookie })
    const rows = body.data as DeliveryBody[]
    const ofAccount = rows.filter(({ type }) => type === 'wallet.created')
    expect(ofAccount).toHaveLength(1)
    expect(ofAccount[0]).not.toHaveProperty('intentId')
  })

  test('another account finds none', async () => {
    const [one] = await found(`intentId=${intentId}`)
    const theirs = await newPerson(world)
    expect(await found(`intentId=${intentId}`, theirs)).toEqual([])
    expect(await found(`deliveryId=${one?.id}`, theirs)).toEqual([])
  })

  test.each(['', 'deliveryId=12', 'deliveryId=whd_x', 'intentId=', 'status=failed'])(
    'error: INVALID_REQUEST for the query "%s"',
    async (query) => expect((await find(query)).status).toBe(400),
  )
})
