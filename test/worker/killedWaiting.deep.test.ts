import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Client } from '@temporalio/client'
import { SETTLED } from '../../domain/hold.js'
import { TASK_QUEUE, connectTemporal } from '../../temporal/connect.js'
import { readRouting, versionOf } from '../../temporal/deployment.js'
import { registerSearchAttributes } from '../../temporal/searchAttributes.js'
import {
  inBlock,
  insertTestIntent,
  insertTestWallet,
  testPlan,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'
import type { CrashPoint } from '../../crashPoints.js'
import type { executeIntent } from '../../workflows/executeIntent.js'

const script = fileURLToPath(new URL('waitingWorker.ts', import.meta.url))
/** Temporal gives an activity whose worker was killed to another one after fifteen seconds. */
const SLOW = 120_000
const confirmed = { state: 'confirmed', success: true, ...inBlock }

let folder: string
let file: string
let database: TestDatabase
let server: TemporalServer
let client: Client
let wallet: TestWallet
const children: ChildProcess[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steward-crash-'))
  file = join(folder, 'point')
  server = await startTemporalServer()
  client = connectTemporal(server.address, 'default')
  await registerSearchAttributes(client)
}, SLOW)
beforeEach(async () => {
  database = await createDatabase()
  wallet = await insertTestWallet(database.db)
})
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child)
  await database.drop()
})
afterAll(async () => {
  await client?.connection.close()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

function startWorker(buildId = 'one'): ChildProcess {
  const { codePath } = workflowBundle()
  const facts = [database.urlAs('steward_worker'), server.address, codePath, buildId]
  const child = spawn(process.execPath, ['--import', 'tsx', script, ...facts], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, NETWORK: 'devnet', CRASH_POINT_FILE: file },
  })
  children.push(child)
  return child
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function until(holds: () => Promise<unknown>): Promise<void> {
  while (!(await holds())) await sleep(50)
}

/** Starts the workflow of a new intent whose deposit nobody signs yet. */
async function startIntent() {
  const { db } = database
  const plan = testPlan('1')
  const intentId = await insertTestIntent(db, wallet, 'planning')
  const { accountId, id: walletId } = wallet
  const handle = await client.workflow.start<typeof executeIntent>('executeIntent', {
    ...{ taskQueue: TASK_QUEUE, workflowId: intentId },
    args: [{ intentId, accountId, walletId, plan }],
  })
  const operation = () => db('operation').where({ intent_id: intentId })
  const awaited = () => db('awaited').where({ workflow_id: intentId })
  return {
    ...{ handle, intentId, operation },
    untilOrdered: () => until(() => operation().first()),
    untilAwaited: () => until(() => awaited().first()),
    settle: () => operation().update(confirmed),
    /** Waits for the end, and counts what must have happened once. */
    async expectDoneOnce() {
      expect(await handle.result()).toEqual({ status: 'completed' })
      expect(await operation()).toHaveLength(1)
      const ends = await db('intent_event').where({ intent_id: intentId, type: 'completed' })
      expect(ends).toHaveLength(1)
      await until(async () => (await awaited()).length === 0)
    },
  }
}

describe('the worker of a step that takes longer than a minute is killed', () => {
  const killed = async (point: CrashPoint, child: ChildProcess, when: () => Promise<unknown>) => {
    writeFileSync(file, point)
    const exited = once(child, 'exit')
    await when()
    await exited
    expect(existsSync(file)).toBe(false)
  }

  test.each([
    'activity: before the order',
    'activity: before the wait is marked',
    'activity: before it returns unsettled',
  ] as const)(
    '%s',
    async (point) => {
      const child = startWorker()
      const intents: Awaited<ReturnType<typeof startIntent>>[] = []
      await killed(point, child, async () => intents.push(await startIntent()))
      const [intent] = intents
      startWorker()
      await intent?.untilOrdered()
      await intent?.settle()
      await intent?.expectDoneOnce()
    },
    SLOW,
  )

  test.each(['worker: before the signal', 'worker: signalled, still marked'] as const)(
    '%s',
    async (point) => {
      const child = startWorker()
      const intent = await startIntent()
      await intent.untilAwaited()
      await killed(point, child, intent.settle)
      startWorker()
      await intent.expectDoneOnce()
    },
    SLOW,
  )

  test(
    'while its operation settles: nobody hears of that, and the sweeper signals it',
    async () => {
      const child = startWorker()
      const intent = await startIntent()
      await intent.untilAwaited()
      await kill(child)
      await intent.settle()
      startWorker()
      await intent.expectDoneOnce()
    },
    SLOW,
  )
})

describe('a newer version of the workers, when the older one is killed', () => {
  test.each(['waits for its signal', 'is in its activity'] as const)(
    'goes on with a step that %s',
    async (moment) => {
      const older = startWorker('older')
      const intent = await startIntent()
      await (moment === 'is in its activity' ? intent.untilOrdered() : intent.untilAwaited())
      startWorker('newer')
      await until(async () => (await readRouting(client, versionOf('newer'))).current === 'newer')
      await kill(older)
      await intent.settle()
      await intent.expectDoneOnce()
      const { raw } = await intent.handle.describe()
      expect(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId).toBe('newer')
    },
    SLOW,
  )
})

describe('a signal', () => {
  test(
    'that comes before its time or more than once completes nothing and harms nothing',
    async () => {
      startWorker()
      const intent = await startIntent()
      await intent.handle.signal(SETTLED)
      await intent.untilAwaited()
      for (let i = 0; i < 3; i++) await intent.handle.signal(SETTLED)
      await sleep(1_500)
      expect((await intent.handle.describe()).status.name).toBe('RUNNING')
      await intent.untilAwaited()
      await intent.settle()
      await intent.expectDoneOnce()
    },
    SLOW,
  )
})
