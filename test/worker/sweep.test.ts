import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { connectTemporal } from '../../workflows/client/connect.js'
import { newId } from '../../db/client/ids.js'
import { keepEvents } from '../../db/intents/events.js'
import { keepRequestPartitions } from '../../db/usage/requests.js'
import { findRunning } from '../../workflows/client/running.js'
import { runSweepers } from '../../worker/sweep.js'
import { watchTemporal } from '../../worker/presence.js'
import {
  insertSigned,
  insertTestFunding,
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { silentChains } from '../planning/chains.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { createCapturedLog } from '../support/capturedLog.js'
import { joinTemporal } from '../support/temporal/joinTemporal.js'
import type { LifecycleStatus } from '../../domain/intent/intent.js'

let address: string
let client: Client
let database: TestDatabase
let wallet: TestWallet

beforeEach(async () => {
  database = await createDatabase()
  // A new day or month since the creation of the tables would make the sweeper log new partitions.
  await keepRequestPartitions(database.db)
  await keepEvents(database.db, 90)
  wallet = await insertTestWallet(database.db)
  ;({ address, client } = await joinTemporal())
})
afterEach(async () => {
  await client.connection.close()
  await database.drop()
})

type LogLine = Record<string, unknown>

/** Runs the sweepers with the worker's role until `isDone`. */
async function sweepUntil(isDone: () => Promise<boolean> | boolean): Promise<LogLine[]> {
  const stop = new AbortController()
  const { log, lines } = createCapturedLog('worker')
  const own = connectTemporal(address, client.options.namespace)
  const temporal = watchTemporal({ client: own, log }, stop.signal)
  const url = database.urlAs('steward_worker')
  const { chains } = silentChains()
  const tools = { url, chains, client: own, temporal, log, eventsKeptDays: 90 }
  const running = runSweepers(tools, stop.signal)
  while (!(await isDone())) await sleep(20)
  stop.abort()
  await running
  await own.connection.close()
  return lines.map((line) => JSON.parse(line) as LogLine)
}

const hourAgo = () => new Date(Date.now() - 3_600_000)
const minuteAgo = () => new Date(Date.now() - 60_000)
/** An intent that was stored an hour ago and has no workflow. */
const forget = (status: LifecycleStatus, values = {}) =>
  insertTestIntent(database.db, wallet, status, { created_at: hourAgo(), ...values })
/** An intent whose workflow was started an hour ago. */
const linger = (values = {}) => forget('executing', { dispatched_at: hourAgo(), ...values })
const lingerFunding = (values = {}) =>
  insertTestFunding(database.db, wallet, { dispatched_at: hourAgo(), ...values })

/** A workflow without a worker, which never ends. */
const run = (workflowId: string) =>
  client.workflow.start('executeIntent', { workflowId, taskQueue: 'unserved' })
const runIdOf = async (id: string) => (await client.workflow.getHandle(id).describe()).runId

const isRunning = (id: string) =>
  runIdOf(id).then(
    () => true,
    () => false,
  )

/** Resolves when Temporal lists all of them. Its listings are eventually consistent. */
async function untilListed(ids: string[]): Promise<void> {
  while ((await findRunning(client, ids)).size < ids.length) await sleep(50)
}

/** Intents without a recent start of their workflow. */
const lingering = async (): Promise<string[]> =>
  database.db('intent').where('dispatched_at', '<', minuteAgo()).pluck<string[]>('id')
const startedOf = (lines: LogLine[]) =>
  lines
    .filter(({ msg }) => msg === 'missing workflow restarted')
    .map(({ intent, funding }) => intent ?? funding)

describe('runSweepers', () => {
  test('logs a start that Temporal rejects once per sweep, and restarts the others', async () => {
    // Exceeds Temporal's limit of an input.
    const plan = JSON.stringify({ reasoning: 'x'.repeat(3_000_000) })
    const refused = await linger({ plan, created_at: new Date(0) })
    for (let i = 0; i < 25; i += 1) await linger()
    const lines = await sweepUntil(async () => (await lingering()).length === 1)
    expect(await lingering()).toEqual([refused])
    const failures = lines.filter(({ msg }) => msg === 'workflow not started')
    expect(failures).toMatchObject([{ intent: refused }])
  })

  test('restarts each workflow once with two processes', async () => {
    for (let i = 0; i < 30; i += 1) await linger()
    const done = async () => (await lingering()).length === 0
    const both = (await Promise.all([sweepUntil(done), sweepUntil(done)])).map(startedOf)
    expect(both.map(({ length }) => length).sort((a, b) => a - b)).toEqual([0, 30])
  })

  test('restarts a missing workflow, and no other one', async () => {
    const ids: string[] = []
    for (let i = 0; i < 20; i += 1) ids.push(await linger())
    const [gone = '', ...running] = ids.sort()
    await Promise.all(running.map(run))
    await untilListed(running)
    const lines = await sweepUntil(() => isRunning(gone))
    expect(startedOf(lines)).toEqual([gone])
  })

  test('restarts a terminated workflow', async () => {
    const id = await linger()
    await run(id)
    const first = await runIdOf(id)
    await client.workflow.getHandle(id).terminate()
    const lines = await sweepUntil(async () => (await runIdOf(id)) !== first)
    expect(startedOf(lines)).toEqual([id])
  })

  test('restarts a reopened intent whose run has just ended, and clears its mark', async () => {
    const now = { dispatched_at: new Date(), recover_at: new Date() }
    const id = await forget('executing', now)
    await run(id)
    const first = await runIdOf(id)
    await client.workflow.getHandle(id).terminate()
    const marked = () => database.db('intent').whereNotNull('recover_at').pluck<string[]>('id')
    await sweepUntil(async () => (await marked()).length === 0)
    expect(await runIdOf(id)).not.toBe(first)
  })

  test('keeps the mark of a reopened intent with a running workflow, regardless of its status', async () => {
    const marked = { dispatched_at: new Date(), recover_at: new Date() }
    const ids = [await forget('executing', marked), await forget('completed', marked)]
    const [running = '', over] = ids
    await run(running)
    const first = await runIdOf(running)
    const left = () => database.db('intent').whereNotNull('recover_at').pluck<string[]>('id')
    await sweepUntil(async () => (await left()).length === 1)
    expect(await left()).toEqual([running])
    expect(await runIdOf(running)).toBe(first)
    expect(await runIdOf(over ?? '')).toBeDefined()
  })

  test('ignores workflows that were started within the last minute', async () => {
    const young = await forget('executing', { dispatched_at: new Date() })
    const old = await linger()
    const lines = await sweepUntil(() => isRunning(old))
    expect(startedOf(lines)).toEqual([old])
    await expect(runIdOf(young)).rejects.toThrow()
  })

  test('restarts a missing funding, and no finished one', async () => {
    const lost = await lingerFunding()
    const half = await lingerFunding()
    const ended = [await lingerFunding({ completed_at: new Date() }), await lingerFunding()]
    const operation = { sequence: 1, kind: 'fund' }
    const refusal = { state: 'cancelled', code: 'NETWORK_ERROR' }
    await insertTestOperation(database.db, wallet, half, operation)
    await insertTestOperation(database.db, wallet, ended[1] ?? '', { ...operation, ...refusal })
    const lines = await sweepUntil(async () => (await isRunning(lost)) && isRunning(half))
    expect(startedOf(lines).sort()).toEqual([lost, half].sort())
    for (const id of [lost, half]) expect(await runIdOf(id)).toBeDefined()
    for (const id of ended) await expect(runIdOf(id)).rejects.toThrow()
  })

  test('deletes all expired keys in batches, with one log line', async () => {
    await database.db.raw(
      `insert into idempotency_key (account_id, endpoint, key, fingerprint, status, body, expires_at)
       select ?, '/v1/wallets', n, '\\x00', 201, '{}', clock_timestamp() - interval '1 second'
       from generate_series(1, 2500) n`,
      [wallet.accountId],
    )
    const left = () => database.db('idempotency_key').select('key')
    const lines = await sweepUntil(async () => (await left()).length === 0)
    expect(lines).toMatchObject([{ rows: 2500, msg: 'expired idempotency keys deleted' }])
  })

  test('deletes signed amounts older than two days in batches, and no newer ones', async () => {
    const { db } = database
    await insertSigned(db, wallet, { count: 2_500, hoursAgo: 49 })
    await insertSigned(db, wallet, { count: 3, hoursAgo: 47 })
    const left = () => db('signed_amount').select('operation_id')
    const lines = await sweepUntil(async () => (await left()).length <= 3)
    expect(await left()).toHaveLength(3)
    expect(lines).toMatchObject([
      { rows: 2500, msg: 'signed amounts beyond the daily limit deleted' },
    ])
  })

  test('deletes request counts older than 400 days, and no newer ones', async () => {
    await database.db.raw(
      `insert into request_day
       select ?, (now() at time zone 'UTC')::date - n, 'key_1', 'GET /v1/wallets', 1, 0, 1
       from generate_series(0, 1500) n`,
      [wallet.accountId],
    )
    const left = async () => (await database.db('request_day').select('day')).length
    const lines = await sweepUntil(async () => (await left()) <= 401)
    expect(await left()).toBe(401)
    expect(lines).toMatchObject([{ rows: 1100, msg: 'old request counts deleted' }])
  })
})

describe('a running workflow', () => {
  test('is found by a second start', async () => {
    const id = newId('intent_')
    await run(id)
    const first = await runIdOf(id)
    const options = { workflowId: id, taskQueue: 'unserved' }
    await client.workflow.start('executeIntent', {
      ...{ workflowIdReusePolicy: 'ALLOW_DUPLICATE', workflowIdConflictPolicy: 'USE_EXISTING' },
      ...options,
    })
    expect(await runIdOf(id)).toBe(first)
  })

  test('drops partitions of old events', async () => {
    const { db } = database
    await db.raw(`create table intent_event_200001 partition of intent_event
      for values from ('2000-01-01 00:00Z') to ('2000-02-01 00:00Z')`)
    const isGone = async () => {
      const { rows } = await db.raw<{ rows: [{ there: boolean }] }>(
        `select to_regclass('intent_event_200001') is not null as there`,
      )
      return !rows[0].there
    }
    const lines = await sweepUntil(isGone)
    expect(lines).toMatchObject([{ made: 0, dropped: 1, msg: 'partitions of events kept' }])
  })
})
