import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { finalizeIntent } from '../../activities/status.js'
import {
  createWorld,
  finalityBlocks,
  usdcUnits,
  type Lend,
  type World,
} from '../lanes/world/fixture.js'
import { setFrozen } from '../lanes/world/freeze.js'
import { differencesOf, expectNoDifferences, reconcileWorld } from './auditing.js'
import type { Check } from '../../audit/difference.js'
import type { Db } from '../../db/connection/connect.js'

let world: World
let done: Lend
let failed: Lend
let funded: Lend
/** An intent of which nothing is ordered yet. */
let waiting: string

beforeAll(async () => {
  world = await createWorld({ lanes: 1 })
  done = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
  funded = await world.fund(await world.createWallet(0n))
  await world.round()
  await finalizeIntent(world.workerDb, { intentId: done.intentId })
  failed = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
  await world.sign()
  await setFrozen(world, true)
  await world.broadcast()
  await world.mine()
  await setFrozen(world, false)
  const failure = { code: 'DEPOSIT_FAILED', message: 'It failed.', step: 1 }
  await world.book()
  await finalizeIntent(world.workerDb, { intentId: failed.intentId, failure })
  waiting = await world.insertLend(await world.createWallet(usdcUnits), usdcUnits)
  await world.mine(finalityBlocks)
  await world.book()
})
afterAll(() => world?.stop())

/** What differs after a change that is undone again. */
async function afterPlanting(plant: (db: Db) => Promise<unknown>) {
  const trx = await world.db.transaction()
  try {
    await plant(trx)
    return await differencesOf(world, { db: trx })
  } finally {
    await trx.rollback()
  }
}

/** What is left and what is mended after a change that is undone again. */
async function afterMending(plant: (db: Db) => Promise<unknown>, lend = done) {
  const trx = await world.db.transaction()
  try {
    await plant(trx)
    const { mended, left } = await reconcileWorld(world, { db: trx })
    return { mended, left, row: await operation(trx, lend).first<Row>() }
  } finally {
    await trx.rollback()
  }
}
type Row = { state: string; success: boolean | null; units: string | null }

const operation = (db: Db, { operationId }: Lend) => db('operation').where({ id: operationId })
const intent = (db: Db, { intentId }: Lend) => db('intent').where({ id: intentId })
const forgetLog = { block_number: null, block_hash: null, log_index: null, tx_id: null }
const unsigned = { ...forgetLog, payload: null, success: null, tx_hash: null, units: null }
const dropCarrier = async (db: Db, lend: Lend) => {
  await operation(db, lend).update({ tx_id: null })
  const last = await db('lane').first<{ next_nonce: bigint }>('next_nonce')
  const nonce = (last.next_nonce - 1n).toString()
  const tx = db('chain_tx').where({ nonce })
  await db('operation').whereIn('tx_id', tx.clone().select('id')).update({ tx_id: null })
  await db('chain_tx_send').whereIn('tx_id', tx.clone().select('id')).delete()
  await tx.delete()
  await db('lane').update({ next_nonce: nonce })
}

describe('an audit', () => {
  test('names nothing where all is well', async () => {
    await expectNoDifferences(world)
  })

  const kinds: [string, Check, string, (db: Db) => Promise<unknown>][] = [
    [
      'credits that no ledger has',
      'credits',
      'purchased',
      (db) => db('account').increment('purchased', 1),
    ],
    [
      'a status that nobody told',
      'edges',
      'told last as failed',
      (db) => intent(db, failed).update({ status: 'executing', error: null }),
    ],
    [
      'an event along no edge',
      'edges',
      'there is no such way',
      (db) =>
        db('intent_event').insert({
          ...{ intent_id: done.intentId, account_id: done.wallet.accountId, type: 'planned' },
          data: { status: 'completed' },
        }),
    ],
    [
      'a completed intent without its success',
      'ends',
      'not every step has a confirmed success',
      (db) => operation(db, done).update({ success: false }),
    ],
    [
      'a failed intent whose step has succeeded',
      'ends',
      'what failed has succeeded',
      (db) => operation(db, failed).update({ success: true }),
    ],
    [
      'money that is not where the error says',
      'funds',
      'funds: 1 USDC on',
      (db) =>
        intent(db, failed).update({
          error: {
            ...{ code: 'DEPOSIT_FAILED', message: 'x', step: 1 },
            funds: [{ chain: 'base-sepolia', asset: 'USDC', amount: '1' }],
          },
        }),
    ],
    [
      'more that is spoken for than there is',
      'money',
      'at the booked block',
      (db) => db('reservation').where({ intent_id: waiting }).update({ units: '1000001' }),
    ],
    [
      'a booked block that is not canonical',
      'booking',
      'another block',
      (db) => db('chain').update({ booked_hash: '0x01' }),
    ],
    [
      'a booking that nobody goes on with',
      'booking',
      'its head is block',
      async (db) => {
        const header = await db('block_header')
          .orderBy('number')
          .first<{ number: bigint; hash: string }>()
        const at = { booked_block: header.number.toString(), booked_hash: header.hash }
        await db('chain').update({ ...at, booked_at: new Date(0) })
      },
    ],
    [
      'an outcome in a block that is not canonical',
      'operations',
      'a success in block',
      (db) => operation(db, done).update({ block_hash: '0x01' }),
    ],
    [
      'an operation that was executed and is queued',
      'operations',
      'a success in block',
      (db) => operation(db, done).update({ ...unsigned, state: 'queued' }),
    ],
    [
      'a success that was a failure',
      'operations',
      'a failure in block',
      (db) => operation(db, failed).update({ success: true }),
    ],
    [
      'a funding that was paid and is queued',
      'operations',
      'a success in block',
      (db) => operation(db, funded).update({ ...unsigned, state: 'queued' }),
    ],
    [
      'an operation whose row is gone',
      'operations',
      'its key is spent',
      (db) => operation(db, failed).delete(),
    ],
    [
      'an outcome that never was',
      'operations',
      'its key is not spent',
      async (db) => {
        const id = '0x01'
        const row = await operation(db, done).first<object>()
        const key = { id, chain_key: `0x${'07'.repeat(24)}`, sequence: 2, input: { units: '1' } }
        await db('operation').insert({ ...row, payload: null, ...key })
      },
    ],
    [
      'a transaction that is not in its block',
      'transactions',
      'no stored hash',
      (db) =>
        db('chain_tx')
          .whereIn('id', operation(db, done).select('tx_id'))
          .update({ block_hash: '0x01' }),
    ],
    [
      'a nonce that no row has',
      'lanes',
      'no transaction is known',
      async (db) => {
        await db('lane').increment('next_nonce', 1)
      },
    ],
    ['a lane that has used more', 'lanes', 'it signs nothing', (db) => dropCarrier(db, failed)],
  ]

  test.each(kinds)('names %s', async (_what, check, words, plant) => {
    const found = await afterPlanting(plant)
    expect(found).toContainEqual(expect.objectContaining({ check }))
    const told = found
      .filter((one) => one.check === check)
      .map((one) => Object.values(one).join(' '))
    const expected = words === 'purchased' ? 'the ledger adds up to' : words
    expect(told.join('\n')).toContain(expected)
  })

  test('names an open intent without workflow, and a workflow without intent', async () => {
    await world
      .db('intent')
      .where({ id: waiting })
      .update({ created_at: new Date(0) })
    const running = (ids: string[]) => ({
      findRunning: (asked: string[]) =>
        Promise.resolve(new Set(asked.filter((id) => ids.includes(id)))),
      async *listRunning() {
        yield* ids
        await Promise.resolve()
      },
    })
    const stopped = await differencesOf(world, {
      workflows: running(['intent_gone', done.intentId]),
    })
    const about = stopped
      .filter(({ check }) => check === 'workflows')
      .map((one) => [one.about, one.row])
    const fund = [`funding ${funded.intentId}`, 'not paid']
    expect(about).toEqual(
      expect.arrayContaining([
        [`intent ${waiting}`, 'planning'],
        ['workflow intent_gone', 'not there'],
        [`workflow ${done.intentId}`, 'it is over'],
      ]),
    )
    expect(about.filter((one) => one[0] !== fund[0])).toHaveLength(3)
    await world.db('funding').update({ completed_at: new Date() })
    await expectNoDifferences(world, { workflows: running([waiting]) })
  })
})

describe('reconcile', () => {
  test.each<[string, () => Lend, Record<string, unknown>]>([
    ['queued', () => done, { ...unsigned, state: 'queued' }],
    ['cancelled', () => done, { ...unsigned, state: 'cancelled' }],
    ['in another block', () => done, { block_hash: '0x01' }],
    ['a failure', () => done, { success: false }],
    ['queued', () => funded, { ...unsigned, state: 'queued' }],
  ])('books what was executed and is %s', async (_state, lend, values) => {
    const plant = (db: Db) => operation(db, lend()).update(values)
    const { left, mended, row } = await afterMending(plant, lend())
    expect(left).toEqual([])
    expect(mended.length).toBeGreaterThan(0)
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
  })

  test('is safe to repeat, and writes nothing where all is well', async () => {
    expect(await reconcileWorld(world)).toEqual({ mended: [], left: [] })
  })

  test('writes the row of what was executed again, and books it', async () => {
    const { left, mended } = await afterMending((db) => operation(db, failed).delete())
    expect(left).toEqual([])
    expect(mended.map(({ mend }) => mend)).toContain('It is booked from its log.')
  })

  test('lets a lane go on behind final nonces that no row knows', async () => {
    const { left, mended } = await afterMending((db) => dropCarrier(db, failed))
    expect(left).toEqual([])
    expect(mended).toMatchObject([{ check: 'lanes' }])
  })

  test('reopens an intent whose end its rows do not bear', async () => {
    const trx = await world.db.transaction()
    await intent(trx, done).update({
      status: 'failed',
      completed_at: null,
      error: { code: 'INTERNAL' },
    })
    await trx('intent_event').insert({
      ...{ intent_id: done.intentId, account_id: done.wallet.accountId, type: 'failed' },
      data: { status: 'failed' },
    })
    const { mended } = await reconcileWorld(world, { db: trx })
    const row = await intent(trx, done).first<object>()
    await trx.rollback()
    expect(mended).toMatchObject([{ check: 'ends', about: `intent ${done.intentId}` }])
    expect(row).toMatchObject({ status: 'executing', recover_at: expect.any(Date) })
  })

  test('waits while the nonces are not final: whoever has no bytes of theirs cannot send them again', async () => {
    const lend = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
    await world.round()
    await finalizeIntent(world.workerDb, { intentId: lend.intentId })
    const { left } = await afterMending((db) => dropCarrier(db, lend))
    const [, ...more] = left.filter(({ check }) => check === 'lanes')
    expect(more).toEqual([])
    expect(left.map(({ mend }) => mend).join()).toContain('when they are final')
  })
})
