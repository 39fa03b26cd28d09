import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { differencesOf, lineOf, type AuditOptions } from './auditing.js'
import { createSettled, intentOf, type Settled } from './settled.js'
import { usdcUnits, type Lend } from '../../relayer/world/fixture.js'
import type { Db } from '../../../db/client/connect.js'

const HOUR_MS = 3_600_000
const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS)

let settled: Settled
let signed: Lend

beforeAll(async () => {
  settled = await createSettled()
  const { world } = settled
  signed = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
  await world.sign()
})
afterAll(() => settled?.world.stop())

/** Reported old rows after a change, which is rolled back. */
async function agedAfter(
  plant: (db: Db) => Promise<unknown>,
  options: AuditOptions = {},
): Promise<string[]> {
  const trx = await settled.world.db.transaction()
  try {
    await plant(trx)
    const found = await differencesOf(settled.world, { ...options, db: trx })
    return found.filter(({ check }) => check === 'ages').map(lineOf)
  } finally {
    await trx.rollback()
  }
}
const signedAt = (db: Db, hours: number) =>
  db('signature')
    .where({ operation_id: signed.operationId })
    .update({ created_at: ago(hours) })
const createdAt = (db: Db, id: string, hours: number) =>
  db('intent')
    .where({ id })
    .update({ created_at: ago(hours) })
const nothing = () => Promise.resolve()

describe('auditAges', () => {
  test('reports nothing before the age limit', async () => {
    expect(await agedAfter(nothing)).toEqual([])
    const young = async (db: Db) => {
      await signedAt(db, 0.9)
      await createdAt(db, settled.waiting, 23)
    }
    expect(await agedAfter(young)).toEqual([])
  })

  test('reports a signed operation with its age and nonce', async () => {
    const [lines, ...more] = await agedAfter((db) => signedAt(db, 1.1))
    expect(more).toEqual([])
    expect(lines).toContain(`operation ${signed.operationId} on ${settled.world.chain.name}: `)
    expect(lines).toContain(`deposit 1 of ${signed.intentId} is signed since 2`)
    expect(lines).toMatch(/: waits for nonce \d+ of sender 0x\w{40}/)
  })

  test('reports a signed operation without a transaction, with its last message', async () => {
    const [lines] = await agedAfter(async (db) => {
      await signedAt(db, 2)
      const row = db('operation').where({ id: signed.operationId })
      await row.update({ tx_id: null, message: 'Its transaction was reverted.' })
    })
    expect(lines).toContain('waits for a sender that includes it: Its transaction was reverted.')
  })

  test('reports an intent with the wait reason of its next step', async () => {
    const waiting = await agedAfter((db) => createdAt(db, settled.waiting, 25))
    expect(waiting).toHaveLength(1)
    expect(waiting[0]).toContain(`intent ${settled.waiting}: planning since 2`)
    expect(waiting[0]).toContain('waits for its next step, which is not ordered')
    const held = await agedAfter(async (db) => {
      await createdAt(db, signed.intentId, 25)
      const reason = { code: 'RPC_ERROR', message: 'The node is silent.', retry_after: new Date() }
      const row = db('operation').where({ id: signed.operationId })
      await row.update({ state: 'deferred', tx_id: null, ...reason })
    })
    expect(held[0]).toContain('waits for deposit 1, which is deferred: The node is silent.')
  })

  test('reports a reservation of a finished intent', async () => {
    const [lines] = await agedAfter(async (db) => {
      await intentOf(db, settled.failed).update({ created_at: ago(25) })
      const row = db('reservation').where({ intent_id: settled.failed.intentId })
      await row.update({ released_at: null, spent_block: null })
    })
    expect(lines).toContain(`reservation 1 of ${settled.failed.intentId}`)
    expect(lines).toContain('waits for the outcome of a step of the failed intent to be final')
  })

  test('reports a refill of a sender', async () => {
    const [lines] = await agedAfter(async (db) => {
      const found = await db('sender').first<{ chain_id: bigint; sender: string }>()
      const { chain_id, sender } = found
      const row = { chain_id: chain_id.toString(), sender, nonce: 900, opened_at: ago(2) }
      const [tx] = await db('chain_tx').insert(row).returning<{ id: bigint }[]>('id')
      await db('sender').where({ sender }).update({ refill_tx: tx?.id.toString() })
    })
    expect(lines).toMatch(
      /^refill of sender 0x\w+ on .+: open since .+: waits for nonce 900 of the tr/,
    )
  })

  test('reports rows above a given age, on several pages, each once', async () => {
    const { walletId } = await settled.world
      .db('intent')
      .where({ id: settled.waiting })
      .first<{ walletId: string }>('wallet_id as walletId')
    const many = async (db: Db) => {
      await createdAt(db, settled.waiting, 3)
      await db.raw(
        `insert into intent (id, account_id, wallet_id, action, asset, units, status, request_id, created_at)
         select 'intent_aged' || n, account_id, id, 'lend', 'USDC', 1, 'pending', 'req_' || n,
           clock_timestamp() - interval '3 hours'
         from wallet, generate_series(1, 250) n where id = ?`,
        [walletId],
      )
    }
    expect(await agedAfter(many)).toEqual([])
    const lines = await agedAfter(many, { olderThanMs: 2 * HOUR_MS })
    expect(lines).toHaveLength(251)
    expect(new Set(lines).size).toBe(251)
    expect(lines.filter((one) => one.includes('pending since'))).toHaveLength(250)
    expect(lines.join('\n')).toContain('waits for its plan')
  })
})
