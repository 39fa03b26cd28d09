import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../db/client/connect.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'

const roles = ['steward_api', 'steward_worker', 'steward_relayer', 'steward_signer'] as const
type QueueRole = (typeof roles)[number]

let database: TestDatabase
const pools = new Map<QueueRole, Db>()

beforeAll(async () => {
  database = await createDatabase()
  for (const role of roles) pools.set(role, connect(database.urlAs(role), 2))
})
afterAll(async () => {
  await Promise.all([...pools.values()].map((pool) => pool.destroy()))
  await database.drop()
})

describe('state transitions of an operation', () => {
  let wallet: TestWallet
  let intentId: string
  beforeAll(async () => {
    wallet = await insertTestWallet(database.db)
    intentId = await insertTestIntent(database.db, wallet, 'executing')
  })
  let sequence = 0
  const change = async (role: QueueRole, from: string, to: string) => {
    const values = { ...(needs[from] ?? {}), state: from, sequence: ++sequence }
    const id = await insertTestOperation(database.db, wallet, intentId, values)
    await pools
      .get(role)?.('operation')
      .where({ id })
      .update({ state: to })
      .catch((error: unknown) => {
        expect(error).toMatchObject({ code: expect.stringMatching(/^42501|^23514/) })
      })
    const row = await database.db('operation').where({ id }).first<{ state: string }>('state')
    return row.state === to
  }

  const all = [
    ...['queued', 'deferred', 'signed', 'mined', 'confirmed', 'final', 'rejected', 'cancelled'],
  ]
  const block = {
    ...{ block_hash: '0x01', block_number: 1, tx_hash: '0x02', log_index: 0 },
    ...{ gas_used: 0, gas_cost_usd: 0, success: true },
  }
  const needs: Record<string, object> = {
    deferred: { code: 'RPC_ERROR', retry_after: new Date() },
    ...{ mined: block, confirmed: block, final: block },
  }
  /** The transitions that a role can make, from each state. A change without effect counts. */
  const reach = async (role: QueueRole) => {
    const pairs: string[] = []
    for (const from of all) {
      for (const to of all.filter((state) => state !== from)) {
        if (await change(role, from, to)) pairs.push(`${from} -> ${to}`)
      }
    }
    return pairs
  }

  test('the worker queues and cancels unsigned operations', async () => {
    expect(await reach('steward_worker')).toEqual([
      ...['queued -> cancelled', 'deferred -> queued', 'deferred -> cancelled'],
    ])
  })

  test('the signer signs or rejects the operations that it claims', async () => {
    const wanted = ['queued -> signed', 'queued -> rejected', 'signed -> queued']
    expect(await reach('steward_signer')).toEqual([...wanted, 'signed -> rejected'])
  })

  test('the API changes none', async () => {
    expect(await reach('steward_api')).toEqual([])
  })

  test('the relayer neither rejects nor cancels', async () => {
    const ends = (await reach('steward_relayer')).map((pair) => pair.split(' -> ')[1])
    expect(ends).not.toContain('rejected')
    expect(ends).not.toContain('cancelled')
  })

  test('deferring a signed operation deletes its signature', async () => {
    const values = { state: 'signed', kind: 'mint', sequence: ++sequence }
    const id = await insertTestOperation(database.db, wallet, intentId, values)
    await database.db('signature').insert({ operation_id: id, payload: '{}' })
    const later = { state: 'deferred', code: 'BRIDGE_TIMEOUT', retry_after: new Date() }
    await pools.get('steward_relayer')?.('operation').where({ id }).update(later)
    const row = await database.db('operation').where({ id }).first<object>()
    expect(row).toMatchObject({ state: 'deferred', tx_id: null })
    expect(await database.db('signature').where({ operation_id: id })).toEqual([])
  })
})
