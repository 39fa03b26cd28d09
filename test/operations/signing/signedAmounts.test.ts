import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { pruneSignedAmounts } from '../../../operations/signing/signedAmounts.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertSigned, insertTestWallet, type TestWallet } from '../../db/rows.js'

let database: TestDatabase
let worker: Db
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'), 2)
})
afterAll(async () => {
  await worker?.destroy()
  await database?.drop()
})
beforeEach(async () => {
  await database.db.raw('alter table signed_amount disable trigger user')
  await database.db('signed_amount').delete()
  await database.db.raw('alter table signed_amount enable trigger user')
  wallet = await insertTestWallet(database.db)
})

const hoursLeft = async () => {
  const age = 'round(extract(epoch from clock_timestamp() - signed_at) / 3600)::int as hours'
  const rows = await database
    .db('signed_amount')
    .orderBy('signed_at')
    .select<{ hours: number }[]>(database.db.raw(age))
  return rows.map(({ hours }) => hours)
}

describe('pruneSignedAmounts', () => {
  test('deletes the oldest first, at most the given number, and none of the last two days', async () => {
    for (const hoursAgo of [1, 25, 47, 49, 60, 72]) {
      await insertSigned(database.db, wallet, { count: 1, hoursAgo })
    }
    expect(await pruneSignedAmounts(worker, 2)).toBe(2)
    expect(await hoursLeft()).toEqual([49, 47, 25, 1])
    expect(await pruneSignedAmounts(worker, 2)).toBe(1)
    expect(await pruneSignedAmounts(worker, 2)).toBe(0)
    expect(await hoursLeft()).toEqual([47, 25, 1])
  })

  test('is the only deletion: the worker cannot remove amounts that count towards a limit', async () => {
    await insertSigned(database.db, wallet, { count: 1, hoursAgo: 47 })
    await expect(worker('signed_amount').delete()).rejects.toThrow('two days')
    expect(await hoursLeft()).toEqual([47])
  })

  test('finds old rows by an index, with any number of recent ones', async () => {
    await insertSigned(database.db, wallet, { count: 3_000, hoursAgo: 3 })
    await insertSigned(database.db, wallet, { count: 10, hoursAgo: 50 })
    await database.db.raw('analyze signed_amount')
    await database.db.transaction(async (trx) => {
      // The counts include earlier reads of this session until they are flushed.
      const before = await readCounts(trx)
      expect(await pruneSignedAmounts(trx, 1_000)).toBe(10)
      const after = await readCounts(trx)
      expect(after.all - before.all).toBe(0n)
      expect(after.some - before.some).toBeLessThan(100n)
    })
  })
})

/** Rows of the table that this session has read sequentially, and by an index. */
async function readCounts(trx: Db): Promise<{ all: bigint; some: bigint }> {
  const { rows } = await trx.raw<{ rows: [{ all: bigint; some: bigint }] }>(
    `select seq_tup_read as all, idx_tup_fetch as some from pg_stat_xact_user_tables
     where relname = 'signed_amount'`,
  )
  return rows[0]
}
