import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { finalizeIntent } from '../../../activities/status.js'
import { usdcUnits, type Lend } from '../../relayer/world/fixture.js'
import { reconcileWorld } from './auditing.js'
import {
  createSettled,
  forgetNewest,
  intentOf,
  loseOperation,
  operationOf,
  takeBackPayment,
  unsigned,
  type Settled,
} from './settled.js'
import type { Db } from '../../../db/client/connect.js'

let settled: Settled

beforeAll(async () => {
  settled = await createSettled()
})
afterAll(() => settled?.world.stop())

/** Repaired and remaining differences after a change, which is rolled back. */
async function afterRepair(plant: (db: Db) => Promise<unknown>, lend = settled.done) {
  const trx = await settled.world.db.transaction()
  try {
    await plant(trx)
    const { fixed, left } = await reconcileWorld(settled.world, { db: trx })
    return { fixed, left, row: await operationOf(trx, lend).first<OperationOutcome>() }
  } finally {
    await trx.rollback()
  }
}
type OperationOutcome = { state: string; success: boolean | null; units: string | null }

describe('reconcile', () => {
  test.each<[string, () => Lend, Record<string, unknown>]>([
    ['queued', () => settled.done, { ...unsigned, state: 'queued' }],
    ['cancelled', () => settled.done, { ...unsigned, state: 'cancelled' }],
    ['in another block', () => settled.done, { block_hash: '0x01' }],
    ['a failure', () => settled.done, { success: false }],
    ['queued', () => settled.funded, { ...unsigned, state: 'queued' }],
  ])('indexes an executed operation that is %s', async (_state, lend, values) => {
    const plant = (db: Db) => operationOf(db, lend()).update(values)
    const { left, fixed, row } = await afterRepair(plant, lend())
    expect(left).toEqual([])
    expect(fixed.length).toBeGreaterThan(0)
    expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
  })

  test('is safe to repeat, and writes nothing without a difference', async () => {
    expect(await reconcileWorld(settled.world)).toEqual({ fixed: [], left: [] })
  })

  test('recreates the row of an executed operation, and indexes it', async () => {
    const { left, fixed } = await afterRepair((db) => loseOperation(db, settled.failed))
    expect(left).toEqual([])
    expect(fixed.map(({ remedy }) => remedy)).toContain('Index it from its log.')
  })

  test('moves a sender past final nonces without a row', async () => {
    const { left, fixed } = await afterRepair((db) => forgetNewest(db, settled.failed))
    expect(left).toEqual([])
    expect(fixed).toMatchObject([{ check: 'senders' }])
  })

  test('reopens an intent whose rows do not support its final status', async () => {
    const trx = await settled.world.db.transaction()
    await intentOf(trx, settled.done).update({
      status: 'failed',
      completed_at: null,
      error: { code: 'INTERNAL' },
    })
    await trx('intent_event').insert({
      ...{
        intent_id: settled.done.intentId,
        account_id: settled.done.wallet.accountId,
        type: 'failed',
      },
      data: { status: 'failed' },
    })
    const { fixed } = await reconcileWorld(settled.world, { db: trx })
    const row = await intentOf(trx, settled.done).first<object>()
    await trx.rollback()
    expect(fixed).toMatchObject([{ check: 'ends', about: `intent ${settled.done.intentId}` }])
    expect(row).toMatchObject({ status: 'executing', recover_at: expect.any(Date) })
  })

  test('does not move a sender before the nonces are final', async () => {
    const lend = await settled.world.lend(await settled.world.createWallet(usdcUnits), usdcUnits)
    await settled.world.round()
    await finalizeIntent(settled.world.workerDb, { intentId: lend.intentId })
    const { left } = await afterRepair((db) => forgetNewest(db, lend))
    const [, ...more] = left.filter(({ check }) => check === 'senders')
    expect(more).toEqual([])
    expect(left.map(({ remedy }) => remedy).join()).toContain('when they are final')
  })

  test('indexes a cancelled payment that is queued as failed', async () => {
    const funding = await takeBackPayment(settled.world)
    const plant = (db: Db) => operationOf(db, funding).update({ ...unsigned, state: 'queued' })
    const { left, fixed, row } = await afterRepair(plant, funding)
    expect(left).toEqual([])
    expect(fixed.map(({ remedy }) => remedy)).toContain('Index it from its log.')
    expect(row).toMatchObject({ state: 'confirmed', success: false, units: null })
  })
})
