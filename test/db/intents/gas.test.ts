import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { finalizeIntent } from '../../../activities/status.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { completeWhenDone } from '../../../db/intents/status.js'
import { charge } from '../../../db/usage/metering.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { inBlock, insertTestIntent, insertTestOperation, insertTestWallet } from '../rows.js'
import type { TestWallet } from '../rows.js'

/** USD. */
const ESTIMATE = 0.76
const budgets = { free: 1, pro: 10, enterprise: undefined }

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
  wallet = await insertTestWallet(database.db)
})
afterAll(async () => {
  await Promise.all([worker?.destroy(), api?.destroy()])
  await database?.drop()
})

const used = async () => {
  const row = await database
    .db('account_gas')
    .where({ account_id: wallet.accountId })
    .first<{ usd: string }>('usd')
  return Number(row.usd)
}
const chargeGas = (usd: number) =>
  charge(api, {
    ...{ accountId: wallet.accountId, requestId: newId('req_'), cost: 1, route: 'POST /intents' },
    gas: { usd, budgets },
  })

/** An intent that has counted its estimate, with one operation. */
async function insertCharged(operation: Record<string, unknown>): Promise<string> {
  expect(await chargeGas(ESTIMATE)).toEqual({ paid: true, balance: expect.any(BigInt) as bigint })
  const id = await insertTestIntent(database.db, wallet, 'executing', { gas_usd: ESTIMATE })
  await insertTestOperation(database.db, wallet, id, operation)
  return id
}

const confirmed = (gasCostUsd: string, success = true) => ({
  ...{ state: 'confirmed', success, ...inBlock, gas_used: '1', gas_cost_usd: gasCostUsd },
})

describe('the gas of an account', () => {
  test.each([
    ['is what the operations cost, when that is more than the estimate', '2.5', 2.5],
    ['stays the estimate, when the operations cost less', '0.1', ESTIMATE],
  ])('%s', async (_, cost, expected) => {
    const id = await insertCharged(confirmed(cost))
    expect(await completeWhenDone(worker, id)).toBe(true)
    expect(await used()).toBe(expected)
  })

  test('is what the operations of a failed intent cost', async () => {
    const id = await insertCharged(confirmed('0.25', false))
    await finalizeIntent(worker, { intentId: id })
    expect(await used()).toBe(0.25)
  })

  test('of a day is not changed by an intent of the day before', async () => {
    const id = await insertCharged(confirmed('2.5'))
    await database
      .db('intent')
      .where({ id })
      .update({
        created_at: database.db.raw(`created_at - interval '1 day'`),
      })
    await completeWhenDone(worker, id)
    expect(await used()).toBe(ESTIMATE)
  })

  test('never exceeds the budget with concurrent charges', async () => {
    const payments = await Promise.all(Array.from({ length: 8 }, () => chargeGas(3)))
    expect(payments.filter(({ gas }) => gas === undefined)).toHaveLength(3)
    expect(payments.find(({ gas }) => gas)?.gas).toMatchObject({ usedUsd: 9, budgetUsd: 10 })
    expect(await used()).toBe(9)
  })
})
