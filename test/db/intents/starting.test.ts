import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { connect, type Db } from '../../../db/connection/connect.js'
import { claimStarts, type Startable } from '../../../db/intents/starting.js'
import { insertTestFunding, insertTestIntent, insertTestWallet, type TestWallet } from '../rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
let wallet: TestWallet
/** With the rights of the worker only. */
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
const claim = async (limit = 10) => (await claimStarts(db, 'intent', limit)).map(idOf)

describe('claimStarts', () => {
  test('gives each row to one of those who ask at the same time, with the tier and the user of its account', async () => {
    const waiting: string[] = []
    for (let i = 0; i < 25; i += 1) waiting.push(await store())
    const claimed = await Promise.all(Array.from({ length: 8 }, () => claim()))
    for (let more = await claim(); more.length > 0; more = await claim()) claimed.push(more)
    expect(claimed.flat().sort()).toEqual(waiting.sort())
    await database.db('intent').update({ swept_at: null })
    const starts = await claimStarts(db, 'intent', 25)
    const { user_id: userId } = await database.db('wallet').where({ id: wallet.id }).first()
    expect(starts).toHaveLength(25)
    for (const start of starts) expect(start).toMatchObject({ tier: 'enterprise', userId })
  })

  test('gives a funding as it is stored', async () => {
    const id = await insertTestFunding(database.db, wallet)
    const { accountId, id: walletId } = wallet
    const funding = { id, accountId, walletId }
    expect(await claimStarts(db, 'funding', 10)).toMatchObject([{ funding, tier: 'enterprise' }])
    expect(await claimStarts(db, 'funding', 10)).toEqual([])
  })

  test('what a worker claimed that has died is free a few seconds later, after what was never tried', async () => {
    const died = await store({ swept_at: new Date(Date.now() - 6_000) })
    await store({ swept_at: new Date(Date.now() - 3_000) })
    const fresh = await store({ created_at: new Date() })
    expect(await claim(1)).toEqual([fresh])
    expect(await claim()).toEqual([died])
    expect(await claim()).toEqual([])
  })

  test('leaves alone what is started, and what is over', async () => {
    await store({ dispatched_at: new Date() })
    await insertTestIntent(database.db, wallet, 'failed')
    await insertTestIntent(database.db, wallet, 'completed')
    expect(await claim()).toEqual([])
  })
})

test('a look for what is to be started reads no more, however much of it there is', async () => {
  await store()
  const countTaken = async (count: number) => {
    const trx = await database.db.transaction()
    try {
      await trx.raw('set local session_replication_role = replica')
      await trx.raw(
        `insert into intent select copy.* from generate_series(1, ${count}) n, (select * from intent limit 1) one,
           jsonb_populate_record(null::intent, to_jsonb(one) || jsonb_build_object('id', 'copy_' || n)) copy`,
      )
      await trx.raw('analyze intent')
      const before = await countRead(trx)
      await claimStarts(trx, 'intent', 10)
      return (await countRead(trx)) - before
    } finally {
      await trx.rollback()
    }
  }
  const few = await countTaken(100)
  expect(few).toBeGreaterThan(0)
  expect(await countTaken(3_000)).toBeLessThanOrEqual(2 * few)
})

/** Rows of intents that a transaction has read so far, of use or not. */
async function countRead(trx: Db): Promise<number> {
  const { rows } = await trx.raw<{ rows: [{ count: string }] }>(
    `select seq_tup_read + idx_tup_fetch as count from pg_stat_xact_user_tables where relname = 'intent'`,
  )
  return Number(rows[0].count)
}
