import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Client } from '@temporalio/client'
import { claimNetwork } from '../../db/client/connect.js'
import { findFreePorts } from '../../dev/ports.js'
import { connectTemporal } from '../../workflows/client/connect.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { compiledFile } from '../support/temporal/workflowBundle.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const nowhere = 'http://127.0.0.1:1'

let database: TestDatabase
let wallet: TestWallet
let port: number
let client: Client
let server: TemporalServer | undefined
const processes: ChildProcess[] = []

beforeAll(async () => {
  database = await createDatabase()
  await claimNetwork(database.db, 'testnet')
  wallet = await insertTestWallet(database.db)
  ;[port = 0] = await findFreePorts(1)
  client = connectTemporal(`127.0.0.1:${port}`, 'default')
})
afterAll(async () => {
  for (const child of processes) child.kill('SIGKILL')
  await client?.connection.close()
  await server?.stop()
  await database?.drop()
})

/** A worker process and its log. Its chains do not answer. */
function runWorker() {
  const child = spawn(process.execPath, [compiledFile('worker/main.js')], {
    cwd: root,
    env: {
      ...{ PATH: process.env.PATH, NETWORK: 'testnet', TEMPORAL_ADDRESS: `127.0.0.1:${port}` },
      DATABASE_URL: database.urlAs('steward_worker'),
      RPC_URL_ETHEREUM_SEPOLIA: nowhere,
      RPC_URL_ARBITRUM_SEPOLIA: nowhere,
      RPC_URL_BASE_SEPOLIA: nowhere,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  processes.push(child)
  const output = { text: '' }
  child.stdout?.on('data', (chunk) => (output.text += String(chunk)))
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const ready = Promise.race([
    once(child, 'message').then(([message]) => message as unknown),
    ended.then((code) => Promise.reject(new Error(`exit ${code}: ${output.text}`))),
  ])
  /** Its log lines with this message. */
  const logged = (message: string) =>
    output.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => String(msg).startsWith(message))
  return { child, ended, ready, logged }
}

/** An intent without a workflow. No chain answers, so it stays in its first activity. */
const queue = () =>
  insertTestIntent(database.db, wallet, 'pending', { created_at: new Date(Date.now() - 60_000) })

/** Resolves when a worker executes the intent. */
async function untilWorkedOn(id: string): Promise<void> {
  for (;;) {
    const run = await client.workflow
      .getHandle(id)
      .describe()
      .catch(() => undefined)
    const names = run?.raw.pendingActivities?.filter(({ attempt }) => Number(attempt) > 0)
    if (names && names.length > 0) return
    await sleep(50)
  }
}

describe('a worker without Temporal', () => {
  test('starts, executes intents once Temporal is available, and continues with another server', async () => {
    const { child, ended, ready, logged } = runWorker()
    expect(await ready).toEqual({ type: 'ready' })
    const first = await queue()

    server = await startTemporalServer(port)
    await untilWorkedOn(first)
    expect(logged('Temporal unavailable')).toHaveLength(1)
    expect(logged('Temporal available again')).toHaveLength(1)

    await server.stop()
    while (logged('Temporal unavailable').length < 2) await sleep(50)
    const second = await queue()
    // The new server has neither the schedules nor the search attributes.
    server = await startTemporalServer(port)
    await untilWorkedOn(second)
    const yields = client.schedule.getHandle('snapshot-yields')
    while (!(await yields.describe().catch(() => undefined))) await sleep(50)
    expect(logged('gRPC')).toEqual([])

    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  }, 120_000)

  test('stops on request while it waits', async () => {
    await server?.stop()
    const { child, ended, ready, logged } = runWorker()
    await ready
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(logged('stop callback failed')).toEqual([])
  })
})
