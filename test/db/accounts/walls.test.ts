import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { scopeTransaction } from '../../../db/client/scope.js'
import { pauseWork } from '../../../db/pauses.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../rows.js'

/** Their ids alone fill two hundred pages. */
const WALLETS = 20_000
/** Pages of all indexes of one table, and of the rows that its keys reference. */
const FEW_PAGES = 60

let database: TestDatabase
let api: Db
let wallet: TestWallet
let foreign: TestWallet
let intent: string

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 1)
  const { db } = database
  wallet = await insertTestWallet(db)
  foreign = await insertTestWallet(db)
  intent = await insertTestIntent(db, wallet, 'planning')
  await db('kek').insert({ id: 'kek', public_key: Buffer.alloc(32), active: true })
  await db.transaction(async (trx) => {
    // No notifications for these rows.
    await trx.raw('set local session_replication_role = replica')
    await trx.raw(
      `insert into wallet (id, account_id, user_id, address, metadata)
       select 'svc_wallet_' || n, ?, n, n, '{}' from generate_series(1, ${WALLETS}) n`,
      [wallet.accountId],
    )
  })
  await pauseWork(db, { scope: 'wallet', subject: foreign.id }, { by: 'test', why: 'test' })
  await db.raw('vacuum (analyze) wallet')
})
afterAll(async () => {
  await api?.destroy()
  await database?.drop()
})

type Buffers = { 'Shared Hit Blocks': number; 'Shared Read Blocks': number }

class RolledBack extends Error {}

/** Pages that a statement of the account reads. Its changes are rolled back. */
async function countPages(sql: string, values: (string | number)[]): Promise<number> {
  let pages = NaN
  const undone = api.transaction(async (trx) => {
    await scopeTransaction(trx, wallet.accountId)
    const explain = `explain (analyze, buffers, format json) ${sql}`
    const { rows } = await trx.raw<{ rows: { 'QUERY PLAN': [{ Plan: Buffers }] }[] }>(
      explain,
      values,
    )
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    pages = (plan?.['Shared Hit Blocks'] ?? NaN) + (plan?.['Shared Read Blocks'] ?? NaN)
    throw new RolledBack()
  })
  await undone.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error
  })
  return pages
}

const RESERVE = `insert into reservation (intent_id, sequence, wallet_id, chain_id, token, units)
  values (?, 1, ?, 1, '0xusdc', 1)`

describe('an account with many wallets', () => {
  test.each([
    ['money is reserved', RESERVE, () => [intent, wallet.id]],
    [
      'reservations are read',
      'select units from reservation where wallet_id = ? and chain_id = 1',
      () => [wallet.id],
    ],
    [
      'a key is stored',
      `insert into wallet_secret (wallet_id, kek_id, sealed) values (?, 'kek', '')`,
      () => [wallet.id],
    ],
    [
      'pauses are read',
      'select scope from pause where until is null and subject = ?',
      () => [wallet.id],
    ],
  ])('%s at the cost of one wallet', async (_, sql, values) => {
    // The first query of a session also reads the catalogs.
    await countPages(sql, values())
    expect(await countPages(sql, values())).toBeLessThan(FEW_PAGES)
  })

  test.each([
    ['money of a foreign wallet is not reserved', RESERVE, () => [intent, foreign.id]],
    [
      'a key of a foreign wallet is not stored',
      `insert into wallet_secret (wallet_id, kek_id, sealed) values (?, 'kek', '')`,
      () => [foreign.id],
    ],
  ])('%s', async (_, sql, values) => {
    await expect(countPages(sql, values())).rejects.toMatchObject({
      message: expect.stringContaining('violates row-level security policy') as unknown,
    })
  })
})
