import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { differencesOf, expectNoDifferences, lineOf } from './auditing.js'
import {
  createSettled,
  forgetNewest,
  intentOf,
  loseOperation,
  operationOf,
  unsigned,
  type Settled,
} from './settled.js'
import type { Check } from '../../../admin/audit/difference.js'
import type { Db } from '../../../db/client/connect.js'

let settled: Settled

beforeAll(async () => {
  settled = await createSettled()
})
afterAll(() => settled?.world.stop())

/** Reported differences after a change, which is rolled back. */
async function afterPlanting(plant: (db: Db) => Promise<unknown>) {
  const trx = await settled.world.db.transaction()
  try {
    await plant(trx)
    return await differencesOf(settled.world, { db: trx })
  } finally {
    await trx.rollback()
  }
}

describe('audit', () => {
  test('reports nothing without a difference', async () => {
    await expectNoDifferences(settled.world)
  })

  const kinds: [string, Check, string, (db: Db) => Promise<unknown>][] = [
    [
      'credits without ledger entries',
      'credits',
      'the sum of the ledger is',
      (db) => db('account').increment('purchased', 1),
    ],
    [
      'a status without an event',
      'edges',
      'last event failed',
      (db) => intentOf(db, settled.failed).update({ status: 'executing', error: null }),
    ],
    [
      'an event with an impossible transition',
      'edges',
      'the transition does not exist',
      (db) =>
        db('intent_event').insert({
          ...{
            intent_id: settled.done.intentId,
            account_id: settled.done.wallet.accountId,
            type: 'planned',
          },
          data: { status: 'completed' },
        }),
    ],
    [
      'a completed intent without its success',
      'ends',
      'not every step has a confirmed success',
      (db) => operationOf(db, settled.done).update({ success: false }),
    ],
    [
      'a failed intent whose step has succeeded',
      'ends',
      'the failed step has succeeded',
      (db) => operationOf(db, settled.failed).update({ success: true }),
    ],
    [
      'funds of an error that differ from the logs',
      'funds',
      'funds: 1 USDC on',
      (db) =>
        intentOf(db, settled.failed).update({
          error: {
            ...{ code: 'DEPOSIT_FAILED', message: 'x', step: 1 },
            funds: [{ chain: 'base-sepolia', asset: 'USDC', amount: '1' }],
          },
        }),
    ],
    [
      'reservations above the balance',
      'money',
      'at the indexed block',
      (db) => db('reservation').where({ intent_id: settled.waiting }).update({ units: '1000001' }),
    ],
    [
      'an indexed block that is not canonical',
      'indexing',
      'another block',
      (db) => db('chain').update({ indexed_hash: '0x01' }),
    ],
    [
      'an index that has stopped',
      'indexing',
      'its head is block',
      async (db) => {
        const header = await db('block_header')
          .orderBy('number')
          .first<{ number: bigint; hash: string }>()
        const at = { indexed_block: header.number.toString(), indexed_hash: header.hash }
        await db('chain').update({ ...at, indexed_at: new Date(0) })
      },
    ],
    [
      'an outcome in a block that is not canonical',
      'operations',
      'a success in block',
      (db) => operationOf(db, settled.done).update({ block_hash: '0x01' }),
    ],
    [
      'an executed operation that is queued',
      'operations',
      'a success in block',
      (db) => operationOf(db, settled.done).update({ ...unsigned, state: 'queued' }),
    ],
    [
      'a failure stored as a success',
      'operations',
      'a failure in block',
      (db) => operationOf(db, settled.failed).update({ success: true }),
    ],
    [
      'a paid funding that is queued',
      'operations',
      'a success in block',
      (db) => operationOf(db, settled.funded).update({ ...unsigned, state: 'queued' }),
    ],
    [
      'an operation without a row',
      'operations',
      'its key is spent',
      (db) => loseOperation(db, settled.failed),
    ],
    [
      'an outcome without a log',
      'operations',
      'its key is not spent',
      async (db) => {
        const id = '0x01'
        const row = await operationOf(db, settled.done).first<Record<string, unknown>>()
        // Generated columns.
        for (const name of ['for_intent', 'for_funding', 'resource']) delete row[name]
        const key = { id, chain_key: `0x${'07'.repeat(24)}`, sequence: 2 }
        await db('operation').insert({ ...row, ...key })
      },
    ],
    [
      'a transaction that is not in its block',
      'transactions',
      'none of its stored hashes',
      (db) =>
        db('chain_tx')
          .whereIn('id', operationOf(db, settled.done).select('tx_id'))
          .update({ block_hash: '0x01' }),
    ],
    [
      'a nonce without a row',
      'senders',
      'have no transaction',
      async (db) => {
        await db('sender').increment('next_nonce', 1)
      },
    ],
    [
      'a sender with more nonces on the chain',
      'senders',
      'the sender cannot sign',
      (db) => forgetNewest(db, settled.failed),
    ],
  ]

  test.each(kinds)('reports %s', async (_what, check, words, plant) => {
    const found = await afterPlanting(plant)
    expect(found).toContainEqual(expect.objectContaining({ check }))
    const lines = found.filter((one) => one.check === check).map(lineOf)
    expect(lines.join('\n')).toContain(words)
  })

  test('reports an open intent without a workflow, and a workflow without an open intent', async () => {
    await settled.world
      .db('intent')
      .where({ id: settled.waiting })
      .update({ created_at: new Date(Date.now() - 3_600_000) })
    const running = (ids: string[]) => ({
      findRunning: (asked: string[]) =>
        Promise.resolve(new Set(asked.filter((id) => ids.includes(id)))),
      async *listRunning() {
        yield* ids
        await Promise.resolve()
      },
    })
    const stopped = await differencesOf(settled.world, {
      workflows: running(['intent_gone', settled.done.intentId]),
    })
    const about = stopped
      .filter(({ check }) => check === 'workflows')
      .map((one) => [one.about, one.row])
    const fund = [`funding ${settled.funded.intentId}`, 'not paid']
    expect(about).toEqual(
      expect.arrayContaining([
        [`intent ${settled.waiting}`, 'planning'],
        ['workflow intent_gone', 'missing'],
        [`workflow ${settled.done.intentId}`, 'finished'],
      ]),
    )
    expect(about.filter((one) => one[0] !== fund[0])).toHaveLength(3)
    await settled.world.db('funding').update({ completed_at: new Date() })
    await expectNoDifferences(settled.world, { workflows: running([settled.waiting]) })
  })
})
