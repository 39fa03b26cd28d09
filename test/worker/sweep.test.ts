import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Writable } from 'node:stream'
import { connect, type Db } from '../../db/connection/connect.js'
import { findUndispatchedIntents } from '../../db/intents/intents.js'
import { createLog } from '../../log.js'
import { runSweepers } from '../../worker/sweep.js'
import { standInTemporal } from '../api/api.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../db/rows.js'
import type { IntentStatus } from '../../domain/intent.js'
import { createDatabase, type TestDatabase } from '../support/database.js'

let database: TestDatabase
/** With the rights of the worker only. */
let db: Db
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  db = connect(database.urlAs('steward_worker'))
  wallet = await insertTestWallet(database.db)
})
afterAll(async () => {
  await db?.destroy()
  await database?.drop()
})

type Swept = { logged: Record<string, unknown>[]; started: unknown[] }

/**
 * Runs the sweepers until `isDone`, and tells what they logged and which workflows they started. All that were
 * started before run, but for the `gone` one.
 */
async function sweep(
  isDone: (started: unknown[]) => Promise<boolean> | boolean,
  gone?: string,
): Promise<Swept> {
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const stop = new AbortController()
  const { client, started } = standInTemporal(gone)
  const log = createLog('worker', 'debug', destination)
  const running = runSweepers({ db, client, log }, stop.signal)
  while (!(await isDone(started))) await new Promise((resolve) => setTimeout(resolve, 20))
  stop.abort()
  await running
  return {
    logged: lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    started: started.map(({ options }) => options.workflowId),
  }
}

const cancelled = {
  cancelled_at: new Date(),
  error: { code: 'CANCELLED', message: 'The intent was cancelled. Nothing was sent.' },
}
/** An intent that was stored an hour ago and whose workflow nobody has started. */
const forget = (status: IntentStatus, values = {}) =>
  insertTestIntent(database.db, wallet, status, {
    ...{ created_at: new Date(Date.now() - 3_600_000), ...values },
  })

describe('runSweepers', () => {
  test('starts what was stored and not started, but not what was cancelled meanwhile', async () => {
    const over = await forget('failed', cancelled)
    const waiting = [await forget('pending'), await forget('planning')]
    const left = () => findUndispatchedIntents(db, 0)
    const { started } = await sweep(async () => (await left()).length === 0)
    expect(started).toEqual(waiting)
    const row = database.db('intent').where({ id: over }).first<object>('status', 'dispatched_at')
    expect(await row).toEqual({ status: 'failed', dispatched_at: null })
  })

  test('starts the one again that is gone, however many run', async () => {
    const intents: string[] = []
    for (let i = 0; i < 120; i += 1) {
      intents.push(await forget('executing', { dispatched_at: new Date() }))
    }
    const gone = intents.sort().at(-1)
    const { started } = await sweep((all) => all.length > 0, gone)
    expect(started).toEqual([gone])
  })

  test('deletes expired keys in batches until none is left, in one line of log', async () => {
    await database.db.raw(
      `insert into idempotency_key (account_id, endpoint, key, fingerprint, status, body, expires_at)
       select ?, '/v1/wallets', n, '\\x00', 201, '{}', clock_timestamp() - interval '1 second'
       from generate_series(1, 2500) n`,
      [wallet.accountId],
    )
    const left = () => database.db('idempotency_key').select('key')
    const { logged } = await sweep(async () => (await left()).length === 0)
    expect(logged).toMatchObject([{ deleted: 2500, msg: 'expired idempotency keys deleted' }])
  })
})
