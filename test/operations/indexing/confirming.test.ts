import { afterAll, beforeAll, expect, test } from 'vitest'
import { confirmUpTo } from '../../../operations/indexing/indexedBlocks.js'
import { setMined, type MinedOperation } from '../../../operations/indexing/outcomes.js'
import { insertReservation } from '../../../db/intents/reservations.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertTestIntent, insertTestOperation, insertTestWallet } from '../../db/rows.js'

const CHAIN = 1_000

type ConfirmedStep = { intentId: string; operationId: string }

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())

/** A deposit with its reservation. */
async function insertStep(values: object = {}): Promise<ConfirmedStep> {
  const { db } = database
  const wallet = await insertTestWallet(db)
  const intentId = await insertTestIntent(db, wallet, 'executing')
  const own = { kind: 'deposit', chain_id: CHAIN, ...values }
  const operationId = await insertTestOperation(db, wallet, intentId, own)
  const money = { intentId, walletId: wallet.id, chainId: CHAIN, token: '0xAA', units: 5n }
  await insertReservation(db, { ...money, sequence: 1 })
  return { intentId, operationId }
}

const saidOf = ({ operationId: id }: ConfirmedStep, number: bigint): MinedOperation => ({
  ...{ id, success: true, txHash: '0x', block: { number, hash: `0x${number}` }, logIndex: 0 },
  ...{ gasUsed: 1n, gasCostUsd: 0, units: 7n, messageSent: undefined, refusal: undefined },
})
const rowOf = ({ operationId: id }: ConfirmedStep) =>
  database.db('operation').where({ id }).first<Record<string, unknown>>()
const endsOf = (steps: ConfirmedStep[]) =>
  database
    .db('intent_event')
    .whereIn('type', ['step_completed', 'step_failed'])
    .whereIn(
      'intent_id',
      steps.map(({ intentId }) => intentId),
    )
    .pluck<string[]>('intent_id')

test('setMined confirms operations in a confirmed block with one event, and no operation one block above', async () => {
  const [at, above] = [await insertStep(), await insertStep()]
  await setMined(database.db, [saidOf(at, 100n), saidOf(above, 101n)], 100n)
  const now = expect.any(Date) as unknown
  expect(await rowOf(at)).toMatchObject({ state: 'confirmed', mined_at: now, ended_at: now })
  expect(await rowOf(above)).toMatchObject({ state: 'mined', mined_at: now, ended_at: null })
  expect(await endsOf([at, above])).toEqual([at.intentId])
  const spent = database.db('reservation').where({ intent_id: at.intentId })
  expect(await spent.pluck('spent_block')).toEqual([100n])
})

test('setMined without a confirmed block confirms nothing', async () => {
  const step = await insertStep()
  await setMined(database.db, [saidOf(step, 100n)])
  expect(await rowOf(step)).toMatchObject({ state: 'mined', ended_at: null })
})

test('confirmUpTo skips operations for which the block reports another outcome', async () => {
  const inBlock = { state: 'mined', success: true, block_number: '90', block_hash: '0x90' }
  const [said, other] = [await insertStep(inBlock), await insertStep(inBlock)]
  await confirmUpTo(database.db, CHAIN, { block: 100n, except: [said.operationId] })
  expect(await rowOf(said)).toMatchObject({ state: 'mined' })
  expect(await rowOf(other)).toMatchObject({ state: 'confirmed' })
  expect(await endsOf([said, other])).toEqual([other.intentId])
})

test.each([
  ['operation', { state: 'gone' }],
  ['operation', { kind: 'gift' }],
  ['operation', { state: 'confirmed', block_hash: null }],
  ['intent', { status: 'lost' }],
  ['intent', { action: 'gift' }],
  ['intent', { status: 'executing', plan: null }],
])('error: a row of %s that reads %j', async (table, values) => {
  const { intentId, operationId } = await insertStep()
  const row = database.db(table).where({ id: table === 'intent' ? intentId : operationId })
  await expect(row.update(values)).rejects.toMatchObject({ code: '23514' })
})

test('error: a second retry of an intent, and an event of an unknown type', async () => {
  const { db } = database
  const { intentId } = await insertStep()
  const wallet = await db('intent').where({ id: intentId }).first('wallet_id', 'account_id')
  const retry = (id: string) =>
    db('intent').insert({
      ...{ id, ...(wallet as object), action: 'lend', asset: 'USDC', units: 1, status: 'pending' },
      ...{ request_id: id, retry_of: intentId },
    })
  await retry('intent_second')
  await expect(retry('intent_third')).rejects.toMatchObject({ code: '23505' })
  const event = { intent_id: intentId, account_id: 'acct', type: 'gone', data: '{}' }
  await expect(db('intent_event').insert(event)).rejects.toMatchObject({ code: '23514' })
})
