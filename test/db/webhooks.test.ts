import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../db/client/connect.js'
import { setFundingCompleted } from '../../db/intents/fundings.js'
import { admit, refund } from '../../db/usage/metering.js'
import { createApiKey, grantCredits } from '../../db/accounts/accounts.js'
import { changePlan } from '../../db/accounts/plans.js'
import { dispatchEvents } from '../../db/webhooks/sending.js'
import { newId } from '../../db/client/ids.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import {
  forgetEvents,
  inBlock,
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from './rows.js'

let database: TestDatabase
let worker: Db
let api: Db
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'), 4)
  api = connect(database.urlAs('steward_api'), 4)
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db, undefined, 'free')
})
afterAll(async () => {
  await Promise.all([worker, api].map((db) => db?.destroy()))
  await database?.drop()
})

type EmittedEvent = { type: string; data: Record<string, unknown>; wallet_id: string | null }
const emittedEvents = (): Promise<EmittedEvent[]> =>
  database
    .db('intent_event')
    .where({ account_id: wallet.accountId })
    .orderBy('id')
    .select('type', 'data', 'wallet_id')
const types = async () => (await emittedEvents()).map(({ type }) => type)

describe('events outside intents', () => {
  test('wallet.created includes the user', async () => {
    expect(await emittedEvents()).toEqual([
      {
        type: 'wallet.created',
        data: { userId: 'user', address: wallet.address },
        wallet_id: wallet.id,
      },
    ])
  })

  test('wallet.funded is emitted once, when the test money has arrived', async () => {
    await forgetEvents(database.db, wallet.accountId)
    const id = await insertTestFunding(database.db, wallet)
    await expect(setFundingCompleted(worker, id)).rejects.toThrow('is not paid')
    expect(await types()).toEqual([])
    const paid = { state: 'confirmed', success: true, ...inBlock, units: '999999' }
    await insertTestOperation(database.db, wallet, id, { kind: 'fund', ...paid })
    await setFundingCompleted(worker, id)
    await setFundingCompleted(worker, id)
    const data = { fundingId: id, asset: 'USDC', units: '999999' }
    expect(await emittedEvents()).toMatchObject([
      { type: 'wallet.funded', data, wallet_id: wallet.id },
    ])
  })
})

describe('credit events', () => {
  let key: string
  let requests: string[]
  beforeEach(async () => {
    await forgetEvents(database.db, wallet.accountId)
    await database.db('account').where({ id: wallet.accountId }).update({ rpm: 100_000 })
    key = await createApiKey(database.db, wallet.accountId, { name: 'test' })
    requests = []
  })

  async function spend(cost: number): Promise<void> {
    const requestId = newId('req_')
    requests.push(requestId)
    await admit(api, { key, requestId, cost, route: 'GET /x', scope: 'read' })
  }
  const setMonth = (period: number) =>
    database.db('account').where({ id: wallet.accountId }).update({ period })

  test('credits.low and credits.exhausted are emitted once, regardless of refunds', async () => {
    await spend(90)
    expect(await types()).toEqual([])
    for (let n = 0; n < 3; n++) {
      await spend(1)
      await refund(api, requests.at(-1) ?? '')
    }
    expect(await emittedEvents()).toMatchObject([
      { type: 'credits.low', data: { balance: 9, monthlyCredits: 100 }, wallet_id: null },
    ])
    await spend(10)
    await refund(api, requests.at(-1) ?? '')
    await spend(10)
    expect(await types()).toEqual(['credits.low', 'credits.exhausted'])
  })

  test('one charge past both thresholds emits both', async () => {
    await spend(100)
    expect(await types()).toEqual(['credits.low', 'credits.exhausted'])
  })

  test('a new month and purchased credits reset them', async () => {
    await spend(95)
    await setMonth(202_001)
    await spend(95)
    expect(await types()).toEqual(['credits.low', 'credits.low'])
    await grantCredits(database.db, wallet.accountId, { credits: 50 })
    await spend(50)
    expect(await types()).toEqual(['credits.low', 'credits.low', 'credits.low'])
    await grantCredits(database.db, wallet.accountId, { credits: 1 })
    await spend(1)
    expect(await types()).toEqual(['credits.low', 'credits.low', 'credits.low'])
  })

  test('an account without credits, or with other changes, gets no events', async () => {
    await database.db('account').where({ id: wallet.accountId }).update({ rpm: 5, plan: 'pro' })
    await changePlan(database.db, wallet.accountId, 'pro')
    expect(await types()).toEqual([])
  })
})

describe('dispatchEvents', () => {
  beforeEach(async () => {
    await forgetEvents(database.db, wallet.accountId)
    const id = newId('wh_')
    await database.db('webhook').insert({
      ...{ id, account_id: wallet.accountId, url: 'https://example.com/' },
    })
  })
  const deliveries = () =>
    database
      .db('webhook_delivery')
      .where({ account_id: wallet.accountId })
      .orderBy('id')
      .pluck<bigint[]>('event_id')
  const eventIds = () =>
    database
      .db('intent_event')
      .where({ account_id: wallet.accountId })
      .orderBy(['xact', 'id'])
      .pluck<bigint[]>('id')

  /** Other databases of the server delay events for a moment. */
  async function dispatchAll(count: number): Promise<void> {
    while ((await deliveries()).length < count) await dispatchEvents(worker, 3)
  }

  test('creates one delivery per event, in log order, for any page size', async () => {
    for (let n = 0; n < 4; n++) await insertTestIntent(database.db, wallet, 'planning')
    await dispatchAll(8)
    await dispatchEvents(worker, 3)
    expect(await deliveries()).toEqual(await eventIds())
  })

  test('misses no event of a transaction that commits later with a lower id', async () => {
    const older = await database.db.transaction()
    await insertTestIntent(older, wallet, 'pending')
    await insertTestIntent(database.db, wallet, 'pending')
    expect(await dispatchEvents(worker, 100)).toMatchObject({ isHeld: true })
    expect(await deliveries()).toEqual([])
    await older.commit()
    await dispatchAll(2)
    expect(await deliveries()).toEqual(await eventIds())
  })

  test('concurrent dispatchers create each delivery exactly once', async () => {
    const inserts = Array.from({ length: 20 }, () =>
      insertTestIntent(database.db, wallet, 'pending'),
    )
    await Promise.all([...inserts, ...Array.from({ length: 20 }, () => dispatchEvents(worker, 5))])
    await dispatchAll(20)
    await dispatchEvents(worker, 100)
    expect((await deliveries()).sort((a, b) => Number(a - b))).toEqual(
      (await eventIds()).sort((a, b) => Number(a - b)),
    )
  })

  test('a disabled endpoint gets no deliveries of events in the meantime', async () => {
    const own = () => database.db('webhook').where({ account_id: wallet.accountId })
    await own().update({
      ...{ status: 'disabled', disabled_reason: 'gone', disabled_at: new Date() },
    })
    await insertTestIntent(database.db, wallet, 'pending')
    await dispatchEvents(worker, 100)
    while ((await dispatchEvents(worker, 100)).isHeld);
    await own().update({ status: 'enabled', disabled_reason: null, disabled_at: null })
    await insertTestIntent(database.db, wallet, 'pending')
    await dispatchAll(1)
    expect(await deliveries()).toEqual((await eventIds()).slice(-1))
  })
})
