import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import pg from 'pg'
import { newId } from '../../../db/client/ids.js'
import { listenToOperations, type OperationChange } from '../../../db/client/listen.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../../db/rows.js'

/** More than one notification can hold. */
const MANY = 200

let database: TestDatabase
let session: pg.Client
let wallet: TestWallet
let heard: string[] = []
let chain = 1_000

beforeAll(async () => {
  database = await createDatabase()
  session = new pg.Client({ connectionString: database.url })
  await session.connect()
  session.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await session.query('listen operation')
})
afterAll(async () => {
  await session?.end()
  await database?.drop()
})
beforeEach(async () => {
  chain += 1
  wallet = await insertTestWallet(database.db)
})

/** Operations of one intent each, in the blocks and at the positions of their logs. */
async function insertMined(logs: [block: number, logIndex: number][]): Promise<string[]> {
  const ids: string[] = []
  for (const [block_number, log_index] of logs) {
    const intent = await insertTestIntent(database.db, wallet, 'executing')
    const log = { block_number, log_index, block_hash: '0x1', tx_hash: newId('0x'), units: '5' }
    const row = { ...log, chain_id: chain, state: 'mined', success: true }
    ids.push(await insertTestOperation(database.db, wallet, intent, row))
  }
  // The notifications of these inserts have arrived.
  await session.query('select 1')
  heard = []
  return ids
}

const all = () => database.db('operation').where({ chain_id: chain })
/** The notifications that a session has after its next statement. */
async function hear(): Promise<{ ids: string[]; state: string; chainId: number }[]> {
  await session.query('select 1')
  return heard.map((payload) => JSON.parse(payload) as Awaited<ReturnType<typeof hear>>[number])
}
const events = () =>
  database
    .db('intent_event')
    .where({ account_id: wallet.accountId, type: 'step_completed' })
    .orderBy('id')

test('a statement with several changes is announced once', async () => {
  const ids = await insertMined([
    [1, 0],
    [1, 1],
    [1, 2],
  ])
  await all().update({ state: 'confirmed' })
  const [announced, ...more] = await hear()
  expect(more).toEqual([])
  expect(announced).toMatchObject({ state: 'confirmed', chainId: chain })
  expect(announced?.ids.sort()).toEqual(ids.sort())
})

test('changes beyond the size of a notification are split, and none is lost', async () => {
  const ids = await insertMined(Array.from({ length: MANY }, (_, at) => [1, at]))
  const hex = database.db.raw(`rpad(id, 66, '0')`)
  await all().update({ id: hex })
  await all().update({ state: 'confirmed' })
  const announced = await hear()
  expect(announced.length).toBeLessThan(5)
  const announcedIds = announced.flatMap((one) => one.ids)
  expect(announcedIds.sort()).toEqual(ids.map((id) => id.padEnd(66, '0')).sort())
})

test('changes that no listener waits for are not announced', async () => {
  await insertMined([[1, 0]])
  await all().update({ message: 'still', lease_owner: 'another signer' })
  await all().update({ state: 'mined' })
  expect(await hear()).toEqual([])
})

test('an operation that is included again is announced as signed', async () => {
  const intent = await insertTestIntent(database.db, wallet, 'executing')
  const [id, sender] = [await insertTestOperation(database.db, wallet, intent), newId('0x')]
  const { db } = database
  await db('kek').insert({ id: sender, public_key: Buffer.alloc(32), active: false })
  const own = { chain_id: chain, sender }
  await db('sender').insert({ ...own, kek_id: sender, sealed_key: Buffer.alloc(1) })
  const [tx] = await db('chain_tx')
    .insert({ ...own, nonce: 0 })
    .returning<{ id: bigint }[]>('id')
  await db('operation').where({ id }).update({ state: 'signed' })
  await session.query('select 1')
  heard = []
  await db('operation')
    .where({ id })
    .update({ state: 'signed', tx_id: String(tx?.id) })
  expect(await hear()).toMatchObject([{ ids: [id], state: 'signed' }])
})

test('a subscriber receives each change separately', async () => {
  const ending = new AbortController()
  const changes: (OperationChange | undefined)[] = []
  const ids = await insertMined([
    [1, 0],
    [1, 1],
  ])
  await new Promise<void>((resolve) => {
    listenToOperations(database.url, ending.signal).subscribe((change) => {
      changes.push(change)
      resolve()
    })
  })
  await all().update({ state: 'confirmed' })
  while (changes.length < 3) await session.query('select pg_sleep(0.005)')
  ending.abort()
  const received = changes.slice(1).sort((a, b) => (String(a?.id) < String(b?.id) ? -1 : 1))
  expect(received).toEqual(ids.sort().map((id) => ({ id, state: 'confirmed', chainId: chain })))
})

test('step events are in the order of their logs, for any order of the rows', async () => {
  const hashes = await insertMined([
    [3, 0],
    [2, 7],
    [2, 1],
    [1, 4],
  ]).then((ids) => Promise.all(ids.map((id) => all().where({ id }).pluck<string[]>('tx_hash'))))
  await all().update({ state: 'confirmed' })
  const emitted = await events().pluck<{ txHash: string }[]>('data')
  expect(emitted.map(({ txHash }) => txHash)).toEqual(hashes.flat().reverse())
  expect(new Set(await events().pluck<string[]>('wallet_id'))).toEqual(new Set([wallet.id]))
})

test('lent sums are updated once per account and market', async () => {
  await insertMined([
    [1, 0],
    [1, 1],
  ])
  await all().update({ state: 'confirmed' })
  await all().update({ state: 'final' })
  const sums = () =>
    database.db('account_lent').where({ account_id: wallet.accountId }).select<object[]>('units')
  expect(await sums()).toEqual([{ units: '10' }])
  await all().update({ state: 'confirmed' })
  expect(await sums()).toEqual([{ units: '0' }])
})
