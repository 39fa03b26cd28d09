import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { findDone } from '../../db/intents/sweeping.js'
import { createLog } from '../../runtime/log.js'
import { connectTemporal } from '../../workflows/client/connect.js'
import { watchTemporal } from '../../worker/presence.js'
import { runSweepers } from '../../worker/sweep.js'
import {
  inBlock,
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { silentChains } from '../planning/chains.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
// Reduces the log of the SDK.
import '../support/temporal/temporal.js'
import type { LifecycleStatus } from '../../domain/intent/intent.js'

const AGO_MS = 10_000
const confirmed = { state: 'confirmed', success: true, ...inBlock }
const swapAndDeposit = JSON.stringify({
  steps: [
    { sequence: 1, type: 'swap' },
    { sequence: 2, type: 'deposit' },
  ],
})

let database: TestDatabase
let wallet: TestWallet

beforeEach(async () => {
  database = await createDatabase()
  wallet = await insertTestWallet(database.db)
})
afterEach(() => database.drop())

type StoredColumns = Record<string, unknown>

/** An intent whose operations ended at the given time. */
async function intend(
  operations: StoredColumns[],
  {
    sinceMs = AGO_MS,
    status = 'executing',
    ...values
  }: { sinceMs?: number; status?: LifecycleStatus; plan?: string } = {},
): Promise<string> {
  const { db } = database
  const id = await insertTestIntent(db, wallet, status, values)
  for (const operation of operations) await insertTestOperation(db, wallet, id, operation)
  await db('operation')
    .where({ intent_id: id })
    .whereNotNull('ended_at')
    .update({ ended_at: new Date(Date.now() - sinceMs) })
  return id
}

describe('findDone', () => {
  const find = () => findDone(database.db, { forMs: 3_000, limit: 100 })
  const swapped = { ...confirmed, kind: 'swap' }

  test('returns intents whose last step was confirmed a while ago, and no others', async () => {
    const done = await intend([confirmed])
    const both = await intend([swapped, { ...confirmed, sequence: 2 }], { plan: swapAndDeposit })
    // Too recent: its worker may still complete it.
    await intend([confirmed], { sinceMs: 0 })
    await intend([swapped], { plan: swapAndDeposit })
    await intend([swapped, { state: 'signed', sequence: 2 }], { plan: swapAndDeposit })
    // A reorg has reverted the first step.
    await intend(
      [
        { kind: 'swap', state: 'signed' },
        { ...confirmed, sequence: 2 },
      ],
      {
        plan: swapAndDeposit,
      },
    )
    await intend([{ ...confirmed, success: false }])
    await intend([{ ...confirmed, kind: 'bridge' }])
    await intend([{ state: 'mined', ...inBlock }])
    await intend([])
    await intend([confirmed], { status: 'completed' })
    expect((await find()).sort()).toEqual([done, both].sort())
  })
})

describe('runSweepers', () => {
  test('completes confirmed intents without their worker and without Temporal', async () => {
    const { db } = database
    const done = await intend([confirmed])
    const open = await intend([{ state: 'signed' }])
    await insertTestFunding(db, wallet)

    const client = connectTemporal('127.0.0.1:1', 'default')
    const stop = new AbortController()
    const log = createLog('worker', 'silent')
    const temporal = watchTemporal({ client, log }, stop.signal)
    const { chains } = silentChains()
    const tools = { chains, client, temporal, log, eventsKeptDays: 90 }
    const sweeping = runSweepers({ url: database.urlAs('steward_worker'), ...tools }, stop.signal)
    const statusOf = async (id: string) => {
      const row = await db('intent').where({ id }).first<{ status: string }>('status')
      return row.status
    }
    while ((await statusOf(done)) !== 'completed') await sleep(20)
    stop.abort()
    await sweeping
    await client.connection.close()

    const events = () => db('intent_event').where({ intent_id: done }).pluck<string[]>('type')
    expect(await events()).toContain('completed')
    expect(await statusOf(open)).toBe('executing')
  })
})
