import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { findLingering, readStartables } from '../../../db/intents/sweeping.js'
import {
  inBlock,
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../rows.js'
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

const forget = (values = {}) =>
  insertTestIntent(database.db, wallet, 'planning', { created_at: new Date(0), ...values })

describe('findLingering', () => {
  test('returns all rows, page after page', async () => {
    const hourAgo = new Date(Date.now() - 3_600_000)
    const all = [await insertTestFunding(database.db, wallet, { dispatched_at: hourAgo })]
    for (let i = 0; i < 5; i += 1) all.push(await forget({ dispatched_at: hourAgo }))
    const found: string[] = []
    let page: string[]
    do {
      page = await findLingering(db, 60_000, { after: found.at(-1) ?? '', limit: 2 })
      found.push(...page)
    } while (page.length > 0)
    expect(found).toEqual(all.sort())
  })

  test('returns an ended intent until its burned money has arrived', async () => {
    const confirmed = { state: 'confirmed', success: true, ...inBlock }
    const failed = await insertTestIntent(database.db, wallet, 'failed', {
      dispatched_at: new Date(0),
    })
    const insert = (values: object) =>
      insertTestOperation(database.db, wallet, failed, { ...confirmed, ...values })
    expect(await findLingering(db, 60_000, { after: '', limit: 2 })).toEqual([])
    const operation_id = await insert({ kind: 'bridge' })
    await database.db('burn').insert({ operation_id, source_domain: 3, destination_block: 0 })
    expect(await findLingering(db, 60_000, { after: '', limit: 2 })).toEqual([failed])
    expect(await readStartables(db, [failed])).toMatchObject([{ intent: { id: failed } }])
    await insert({ kind: 'mint' })
    expect(await findLingering(db, 60_000, { after: '', limit: 2 })).toEqual([])
  })
})
