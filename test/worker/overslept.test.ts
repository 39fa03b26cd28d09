import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { stillWaiting } from '../../activities/failures.js'
import { findOverslept } from '../../db/lanes/marks.js'
import { createLog } from '../../log.js'
import { connectTemporal } from '../../temporal/connect.js'
import { watchTemporal } from '../../worker/presence.js'
import { runSweepers } from '../../worker/sweep.js'
import type { fundWallet } from '../../workflows/fundWallet.js'
import {
  inBlock,
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
// The SDK says little then.
import '../support/temporal/temporal.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'

const HOUR_MS = 3_600_000
const ago = (ms: number) => new Date(Date.now() - ms)
const confirmed = { state: 'confirmed', success: true, ...inBlock }
const failed = { ...confirmed, success: false }

let database: TestDatabase
let wallet: TestWallet

beforeEach(async () => {
  database = await createDatabase()
  wallet = await insertTestWallet(database.db)
})
afterEach(() => database.drop())

type Values = Record<string, unknown>

/** An operation as it stands since so many milliseconds. */
async function insert(intentId: string, values: Values, sinceMs: number): Promise<string> {
  const { db } = database
  const id = await insertTestOperation(db, wallet, intentId, values)
  // Triggers have noted the moment.
  await db('operation')
    .where({ id })
    .whereNotNull('ended_at')
    .update({ ended_at: ago(sinceMs) })
  return id
}

describe('findOverslept', () => {
  const intend = () => insertTestIntent(database.db, wallet, 'executing')
  const find = () => findOverslept(database.db, { forMs: 10_000, limit: 100 })
  /** Whether an intent with this operation, the last one of it, is found, and by the name of which step. */
  async function stepOf(values: Values, sinceMs: number, before?: Values) {
    const workflowId = await intend()
    if (before) await insert(workflowId, before, HOUR_MS)
    await insert(workflowId, { sequence: before ? 2 : 1, ...values }, sinceMs)
    return (await find()).find((one) => one.workflowId === workflowId)?.activity
  }
  const burn = async (attestedMs: number | undefined, sinceMs: number) => {
    const workflowId = await intend()
    const operation_id = await insert(workflowId, { kind: 'bridge', ...confirmed }, sinceMs)
    await database.db('burn').insert({ operation_id, source_domain: 3, destination_block: 0 })
    if (attestedMs !== undefined) {
      const attested = { event_nonce: operation_id, message: '0x', attestation: '0x' }
      await database.db('burn').where({ operation_id }).update(attested)
      await database
        .db('burn')
        .where({ operation_id })
        .update({ attested_at: ago(attestedMs) })
    }
    return (await find()).find((one) => one.workflowId === workflowId)?.activity
  }
  const retryAt = (ms: number) => ({
    ...{ state: 'deferred', code: 'RPC_ERROR', message: 'no answer', retry_after: ago(ms) },
  })

  test.each([
    ['is confirmed', confirmed, 'deposit'],
    ['has failed on its chain', failed, 'deposit'],
    ['was refused', { state: 'rejected', code: 'DEPOSIT_FAILED', message: 'refused' }, 'deposit'],
    ['should have been tried again', retryAt(HOUR_MS), 'deposit'],
    ['is tried again soon', retryAt(10_000), undefined],
    ['waits for its signature', {}, undefined],
    ['waits for its block', { state: 'signed' }, undefined],
  ])('a step whose operation %s', async (_what, values, activity) => {
    expect(await stepOf(values, HOUR_MS)).toBe(activity)
  })

  test('one that has just ended is left to the process in which it waits', async () => {
    expect(await stepOf(confirmed, 1_000)).toBeUndefined()
  })

  test('a step that waits in vain, because one before it has failed after all', async () => {
    expect(await stepOf({}, 0, failed)).toBe('deposit')
    expect(await stepOf({}, 0, confirmed)).toBeUndefined()
  })

  test('a burn: the step that burns for some minutes, then the wait for its attestation', async () => {
    expect(await burn(undefined, 30_000)).toBe('bridge')
    expect(await burn(undefined, HOUR_MS)).toBeUndefined()
    expect(await burn(1_000, HOUR_MS)).toBeUndefined()
    expect(await burn(HOUR_MS, HOUR_MS)).toBe('awaitAttestation')
  })

  test('nothing of an intent that is over, nor of a funding that has failed long ago', async () => {
    const over = await insertTestIntent(database.db, wallet, 'completed')
    await insert(over, confirmed, HOUR_MS)
    const lost = await insertTestFunding(database.db, wallet)
    await insert(lost, { kind: 'fund', ...failed }, HOUR_MS)
    const paid = await insertTestFunding(database.db, wallet)
    await insert(paid, { kind: 'fund', ...confirmed }, HOUR_MS)
    const found = (await find()).map(({ workflowId }) => workflowId)
    expect(found).toContain(paid)
    expect(found).not.toContain(lost)
    expect(found).not.toContain(over)
  })
})

describe('runSweepers', () => {
  let server: TemporalServer
  let client: Client

  beforeAll(async () => {
    server = await startTemporalServer()
    client = connectTemporal(server.address, 'default')
  })
  afterAll(async () => {
    await client?.connection.close()
    await server?.stop()
  })

  test('a step whose worker has died while it slept is tried again when its operation is over', async () => {
    const { db } = database
    const fundingId = await insertTestFunding(db, wallet)
    let attempts = 0
    const fund = async () => {
      attempts += 1
      const row = await db('operation').where({ intent_id: fundingId }).first<{ state: string }>()
      if (row.state !== 'confirmed') throw stillWaiting('waits', HOUR_MS)
      return { txHash: '0x01', units: '1000000' }
    }
    const id = await insertTestOperation(db, wallet, fundingId, { kind: 'fund' })
    const connection = await NativeConnection.connect({ address: server.address })
    const taskQueue = 'intents'
    const options = { connection, taskQueue, workflowBundle: workflowBundle() }
    const recordYields = () => Promise.resolve({ recorded: 0, unavailable: [] })
    const worker = await Worker.create({ ...options, activities: { fund, recordYields } })
    const running = worker.run()
    const handle = await client.workflow.start<typeof fundWallet>('fundWallet', {
      ...{ workflowId: fundingId, taskQueue, args: [{ fundingId }] },
    })
    while (attempts === 0) await sleep(20)
    await db('operation').where({ id }).update(confirmed)
    await db('operation')
      .where({ id })
      .update({ ended_at: ago(HOUR_MS) })

    const stop = new AbortController()
    const log = createLog('worker', 'error')
    const temporal = watchTemporal({ client, log }, stop.signal)
    const tools = { client, temporal, log, eventsKeptDays: 90 }
    const sweeping = runSweepers({ url: database.urlAs('steward_worker'), ...tools }, stop.signal)
    expect(await handle.result()).toEqual({ txHash: '0x01' })
    stop.abort()
    await sweeping
    worker.shutdown()
    await running
    await connection.close()
  })
})
