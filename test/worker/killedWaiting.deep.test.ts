import { beforeAll, describe, expect, test, type TestContext } from 'vitest'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bundle } from '../../dev/stack/bundle.mjs'
import { SETTLED } from '../../domain/intent/waitReason.js'
import { TASK_QUEUE } from '../../workflows/client/connect.js'
import { readRouting, versionOf } from '../../workflows/client/deployment.js'
import { inBlock, insertTestIntent, insertTestWallet, testPlan } from '../db/rows.js'
import { createDatabase } from '../support/database.js'
import { joinTemporal } from '../support/temporal/joinTemporal.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'
import type { FaultPoint } from '../../runtime/faultPoints.js'
import type { executeIntent } from '../../workflows/executeIntent.js'

const entry = 'test/worker/waitingWorker.ts'
/** Temporal retries an activity of a killed worker after the heartbeat timeout of 15 s. */
const SLOW = 180_000
const confirmed = { state: 'confirmed', success: true, ...inBlock }

let script: string

beforeAll(async () => {
  const folder = await bundle('waiting-worker', { entries: [entry] })
  script = join(folder, entry.replace('.ts', '.js'))
})

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function until(holds: () => Promise<unknown>): Promise<void> {
  while (!(await holds())) await sleep(50)
}

/** Workers of one test, with their own task queue. */
async function openScene({ onTestFinished }: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'steward-crash-'))
  const file = join(folder, 'point')
  const database = await createDatabase()
  const { db } = database
  const { address, namespace, client } = await joinTemporal()
  const children: ChildProcess[] = []
  onTestFinished(async () => {
    await Promise.all(children.map(kill))
    await client.connection.close()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  })
  const wallet = await insertTestWallet(db)

  return {
    client,
    startWorker(buildId = 'one'): ChildProcess {
      const { codePath } = workflowBundle()
      const facts = [database.urlAs('steward_worker'), address, namespace, codePath, buildId]
      const child = spawn(process.execPath, [script, ...facts], {
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, NETWORK: 'devnet', FAULT_POINT_FILE: file },
      })
      children.push(child)
      return child
    },

    /** Resolves when the worker has died at this point, which it reaches after `when`. */
    async killed<T>(point: FaultPoint, child: ChildProcess, when: () => Promise<T>): Promise<T> {
      writeFileSync(file, point)
      const exited = once(child, 'exit')
      const result = await when()
      await exited
      expect(existsSync(file)).toBe(false)
      return result
    },

    /** Starts the workflow of a new intent whose deposit stays unsigned. */
    async startIntent() {
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
        /** Waits for the end, and checks the counts of unique effects. */
        async expectDoneOnce() {
          expect(await handle.result()).toEqual({ status: 'completed' })
          expect(await operation()).toHaveLength(1)
          const ends = await db('intent_event').where({ intent_id: intentId, type: 'completed' })
          expect(ends).toHaveLength(1)
          await until(async () => (await awaited()).length === 0)
        },
      }
    },
  }
}

describe.concurrent(
  'the worker of a step that takes longer than a minute is killed',
  { timeout: SLOW },
  () => {
    test.for([
      'activity: before the order',
      'activity: before the wait is marked',
      'activity: before it returns unsettled',
    ] as const)('%s', async (point, context) => {
      const { startWorker, startIntent, killed } = await openScene(context)
      const intent = await killed(point, startWorker(), startIntent)
      startWorker()
      await intent.untilOrdered()
      await intent.settle()
      await intent.expectDoneOnce()
    })

    test.for(['worker: before the signal', 'worker: signalled, still marked'] as const)(
      '%s',
      async (point, context) => {
        const { startWorker, startIntent, killed } = await openScene(context)
        const child = startWorker()
        const intent = await startIntent()
        await intent.untilAwaited()
        await killed(point, child, intent.settle)
        startWorker()
        await intent.expectDoneOnce()
      },
    )

    test('while its operation settles is signalled by the sweeper', async (context) => {
      const { startWorker, startIntent } = await openScene(context)
      const child = startWorker()
      const intent = await startIntent()
      await intent.untilAwaited()
      await kill(child)
      await intent.settle()
      startWorker()
      await intent.expectDoneOnce()
    })
  },
)

describe.concurrent(
  'a newer version of the workers, when the older one is killed',
  { timeout: SLOW },
  () => {
    test.for(['waits for its signal', 'is in its activity'] as const)(
      'resumes a step that %s',
      async (moment, context) => {
        const { startWorker, startIntent, client } = await openScene(context)
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
    )
  },
)

describe.concurrent('a signal', { timeout: SLOW }, () => {
  test('that is early or repeated completes nothing', async (context) => {
    const { startWorker, startIntent } = await openScene(context)
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
  })
})
