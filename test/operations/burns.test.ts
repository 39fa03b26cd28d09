import { afterAll, beforeAll, expect, test } from 'vitest'
import { insertChain } from '../../operations/indexing/indexedBlocks.js'
import { findOpenBurns, insertBurn } from '../../operations/burns.js'
import { newId } from '../../db/client/ids.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { insertTestIntent, insertTestOperation, insertTestWallet } from '../db/rows.js'
import type { Db } from '../../db/client/connect.js'

const CHAIN = 2_000
const DEPOSITS = 400

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  const at = { number: 100n, hash: '0x100' }
  await insertChain(database.db, { id: CHAIN, name: 'chain', at })
  for (let i = 0; i < DEPOSITS; i += 1) await insertConfirmed('deposit')
})
afterAll(() => database?.drop())

/** An operation that the chain has executed. */
async function insertConfirmed(kind: string): Promise<string> {
  const wallet = await insertTestWallet(database.db)
  const intentId = await insertTestIntent(database.db, wallet, 'executing')
  return insertTestOperation(database.db, wallet, intentId, {
    ...{ kind, chain_id: CHAIN, chain_key: newId('key_'), state: 'confirmed', success: true },
    ...{ block_number: '90', block_hash: '0x90', tx_hash: newId('0x'), log_index: 0 },
    ...{ gas_used: 0, gas_cost_usd: 0 },
  })
}

/** Rows of operations that were read without an index. */
async function countScanned(trx: Db): Promise<bigint> {
  const { rows } = await trx.raw<{ rows: { scanned: bigint }[] }>(
    `select seq_tup_read as scanned from pg_stat_xact_user_tables where relname = 'operation'`,
  )
  return rows[0]?.scanned ?? 0n
}

test('findOpenBurns starts from the burns, although the planner has no statistics of their table', async () => {
  await database.db.transaction(async (trx) => {
    const before = await countScanned(trx)
    expect(await findOpenBurns(trx)).toEqual([])
    expect(await countScanned(trx)).toBe(before)
  })
  const operationId = await insertConfirmed('bridge')
  await insertBurn(database.db, { operationId, sourceDomain: 3, destinationChainId: CHAIN })
  await database.db('burn').update({ sent: '0x01', burned_at: new Date() })
  await database.db.transaction(async (trx) => {
    const before = await countScanned(trx)
    expect(await findOpenBurns(trx)).toMatchObject([{ operationId, sent: '0x01', message: null }])
    expect(await countScanned(trx)).toBe(before)
  })
})
