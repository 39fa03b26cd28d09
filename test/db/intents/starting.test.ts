import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { claimStarts, type Startable } from '../../../db/intents/starting.js'
import { insertTestFunding, insertTestIntent, insertTestWallet, type TestWallet } from '../rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
let wallet: TestWallet
/** With the permissions of the worker only. */
let db: Db

beforeEach(async () => {
  database = await createDatabase()
  db = connect(database.urlAs('steward_worker'))
  wallet = await insertTestWallet(database.db, '0x01', 'enterprise')
})
afterEach(async () => {
  await db.destroy()
  await database.drop()
})

const store = (values = {}, owner = wallet) =>
  insertTestIntent(database.db, owner, 'planning', { created_at: new Date(0), ...values })
const idOf = (start: Startable) => ('intent' in start ? start.intent.id : start.funding.id)
const claim = async (limit = 10) => (await claimStarts(db, 'intent', { limit })).map(idOf)

describe('claimStarts', () => {
  test('gives each row to one of the concurrent callers, with the tier and the user of its account', async () => {
    const waiting: string[] = []
    for (let i = 0; i < 25; i += 1) waiting.push(await store())
    const claimed = await Promise.all(Array.from({ length: 8 }, () => claim()))
    for (let more = await claim(); more.length > 0; more = await claim()) claimed.push(more)
    expect(claimed.flat().sort()).toEqual(waiting.sort())
    await database.db('intent').update({ dispatch_attempted_at: null })
    const starts = await claimStarts(db, 'intent', { limit: 25 })
    const { user_id: userId } = await database.db('wallet').where({ id: wallet.id }).first()
    expect(starts).toHaveLength(25)
    for (const start of starts) expect(start).toMatchObject({ tier: 'enterprise', userId })
  })

  test('returns a funding as it is stored', async () => {
    const id = await insertTestFunding(database.db, wallet)
    const { accountId, id: walletId } = wallet
    const funding = { id, accountId, walletId }
    expect(await claimStarts(db, 'funding', { limit: 10 })).toMatchObject([
      { funding, tier: 'enterprise' },
    ])
    expect(await claimStarts(db, 'funding', { limit: 10 })).toEqual([])
  })

  test('the claims of a dead worker expire after a few seconds, and come after rows without an attempt', async () => {
    const died = await store({ dispatch_attempted_at: new Date(Date.now() - 6_000) })
    await store({ dispatch_attempted_at: new Date(Date.now() - 3_000) })
    const fresh = await store({ created_at: new Date() })
    expect(await claim(1)).toEqual([fresh])
    expect(await claim()).toEqual([died])
    expect(await claim()).toEqual([])
  })

  test('skips started and ended rows', async () => {
    await store({ dispatched_at: new Date() })
    await insertTestIntent(database.db, wallet, 'failed')
    await insertTestIntent(database.db, wallet, 'completed')
    expect(await claim()).toEqual([])
  })

  test("one account's flood does not delay the start of another account's intents", async () => {
    for (let i = 0; i < 20; i += 1) await store()
    const other = await insertTestWallet(database.db, '0x02', 'enterprise')
    const late = { created_at: new Date() }
    const [first, second] = [await store(late, other), await store(late, other)]
    expect(await claim(2)).toContain(first)
    expect(await claim(2)).toContain(second)
  })
})
