import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { findOddAccounts } from '../../../admin/audit/rows/rows.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import { charge, refund } from '../../../db/usage/metering.js'
import { listLedger, sumLedger } from '../../../db/usage/usage.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
/** With the permissions of the API, and of the worker, only. */
let api: Db
let worker: Db
let accountId: string

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 1)
  worker = connect(database.urlAs('steward_worker'), 1)
})
beforeEach(async () => {
  ;({ id: accountId } = await createAccount(database.db, { name: 'test', plan: 'pro' }))
})
afterAll(async () => {
  await Promise.all([api.destroy(), worker.destroy()])
  await database.drop()
})

const pay = async (cost: number, route: string) => {
  const requestId = newId('req_')
  await charge(api, { accountId, requestId, cost, route })
  return requestId
}
const entries = () => database.db('ledger').where({ account_id: accountId })
/** Moves all rows so far to January and February 2020, alternating. */
const age = () =>
  entries()
    .where({ summed: false })
    .update({
      created_at: database.db.raw(
        `timestamptz '2020-01-15 12:00Z' + (id % 2) * interval '1 month'`,
      ),
    })
const list = async () => listLedger(api, accountId, { limit: 100 })
const sum = async () => (await list()).reduce((total, { delta }) => total + delta, 0n)

describe('sumLedger', () => {
  test('keeps one entry per month and reason, all grants, and the balance', async () => {
    for (let turn = 0; turn < 12; turn++) {
      const requestId = await pay(2, turn % 3 ? 'POST /intents' : 'GET /wallets')
      if (turn % 4 === 0) await refund(api, requestId)
    }
    const [balance, before] = [await sum(), await entries()]
    await age()
    expect(await sumLedger(worker, 1_000)).toBe(15)
    expect(await sumLedger(worker, 1_000)).toBe(0)

    const after = await list()
    expect(await sum()).toBe(balance)
    expect(await findOddAccounts(database.db)).toEqual([])
    expect(new Set(after.map(({ reason }) => reason))).toEqual(
      new Set(before.map(({ reason }: { reason: string }) => reason)),
    )
    expect(after.filter(({ reason }) => reason.startsWith('grant:'))).toHaveLength(1)
    expect(after.length).toBeLessThanOrEqual(7)
    const [{ sum: counted } = {}] = await entries().sum('entries as sum')
    expect(Number(counted)).toBe(before.length)
    expect(await entries().sum('from_granted as sum')).toEqual([{ sum: '24' }])
  })

  test('batches that split a month sum to the same entry, and other accounts keep theirs', async () => {
    const other = await createAccount(database.db, { name: 'other', plan: 'pro' })
    const foreign = { accountId: other.id, requestId: newId('req_'), cost: 7, route: 'GET /x' }
    await charge(api, foreign)
    for (let turn = 0; turn < 10; turn++) await pay(1, 'POST /intents')
    const balance = await sum()
    await entries()
      .whereLike('reason', 'charge:%')
      .update({ created_at: new Date('2021-03-03') })
    const batches: number[] = []
    for (let some = 3; some === 3;) batches.push((some = await sumLedger(worker, 3)))
    expect(batches).toEqual([3, 3, 3, 1])
    const charges = await entries().whereLike('reason', 'charge:%')
    expect(charges).toMatchObject([{ delta: -10n, entries: 10, summed: true }])
    expect(await sum()).toBe(balance)
    expect(await findOddAccounts(database.db)).toEqual([])
    const theirs = { request_id: foreign.requestId, reason: 'charge:GET /x' }
    expect(await database.db('ledger').where(theirs)).toMatchObject([{ delta: -7n, entries: 1 }])
  })

  test('keeps recent entries, which can still be refunded', async () => {
    const requestId = await pay(5, 'POST /intents')
    await entries().update({ created_at: new Date(Date.now() - 399 * 86_400_000) })
    expect(await sumLedger(worker, 1_000)).toBe(0)
    await refund(api, requestId)
    expect((await list()).map(({ delta }) => delta)).toEqual([5n, -5n, expect.anything()])
  })

  test('lists a sum at the position of its last entry', async () => {
    const ids = []
    for (let turn = 0; turn < 3; turn++) {
      await pay(1, 'GET /old')
      ids.push((await list())[0]?.id)
    }
    await entries()
      .whereLike('reason', 'charge:%')
      .update({ created_at: new Date('2021-03-03') })
    await pay(1, 'GET /new')
    await sumLedger(worker, 1_000)
    const [newest, old] = await list()
    expect([newest?.reason, old?.reason]).toEqual(['charge:GET /new', 'charge:GET /old'])
    expect(old?.id).toBe(ids[2])
  })
})
