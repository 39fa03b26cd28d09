import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import {
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../../db/rows.js'

let database: TestDatabase
let mine: TestWallet
let theirs: TestWallet
/** An intent and a funding of one wallet. */
let intent: string
let funding: string

beforeAll(async () => {
  database = await createDatabase()
  mine = await insertTestWallet(database.db)
  theirs = await insertTestWallet(database.db)
  intent = await insertTestIntent(database.db, mine, 'executing')
  funding = await insertTestFunding(database.db, mine)
})
afterAll(() => database?.drop())

const insertReservation = (wallet: TestWallet) =>
  database.db('reservation').insert({
    ...{ intent_id: intent, sequence: 1, wallet_id: wallet.id, chain_id: 1, token: '0x01' },
    units: 1,
  })

/** The wallet of one account, with the id of the other account. */
const mixed = (): TestWallet => ({ ...mine, accountId: theirs.accountId })

describe('the database rejects', () => {
  test.each<[string, () => Promise<unknown>]>([
    [
      "an intent of a wallet of another account's",
      () => insertTestIntent(database.db, mixed(), 'pending'),
    ],
    ["a funding of a wallet of another account's", () => insertTestFunding(database.db, mixed())],
    [
      "an operation for another wallet than its intent's",
      () => insertTestOperation(database.db, theirs, intent),
    ],
    [
      "an operation for another account than its wallet's",
      () => insertTestOperation(database.db, mixed(), intent),
    ],
    ['an operation of no intent', () => insertTestOperation(database.db, mine, 'intent_none')],
    ['a step of a funding', () => insertTestOperation(database.db, mine, funding)],
    [
      'a payment of an intent',
      () => insertTestOperation(database.db, mine, intent, { kind: 'fund' }),
    ],
    [
      "a payment for another wallet than its funding's",
      () => insertTestOperation(database.db, theirs, funding, { kind: 'fund' }),
    ],
    ["a reservation of another wallet's money", () => insertReservation(theirs)],
    [
      "a retry of another wallet's intent",
      () => insertTestIntent(database.db, theirs, 'pending', { retry_of: intent }),
    ],
  ])('%s', async (_what, insert) => {
    await expect(insert()).rejects.toMatchObject({ code: '23503' })
  })

  test('no matching references', async () => {
    await insertTestOperation(database.db, mine, intent)
    await insertTestOperation(database.db, mine, funding, { kind: 'fund' })
    await insertReservation(mine)
    await insertTestIntent(database.db, mine, 'pending', { retry_of: intent })
  })
})
