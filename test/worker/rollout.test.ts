import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Client } from '@temporalio/client'
import { newId } from '../../db/client/ids.js'
import { findTemporalCli } from '../../dev/stack/temporalCli.js'
import { TASK_QUEUE } from '../../workflows/client/connect.js'
import { versionOf } from '../../workflows/client/deployment.js'
import { watchRollout } from '../../worker/rollout.js'
import { serveTasks } from '../../worker/serve.js'
import { createCapturedLog } from '../support/capturedLog.js'
import { joinTemporal } from '../support/temporal/joinTemporal.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'
import type { snapshotYields } from '../../workflows/snapshotYields.js'

/** For versions without workers. An idle worker polls once a minute. */
const GONE_MS = 3_000
const LOOK_EVERY_MS = 200
/** A server that is always available. */
const temporal = { untilThere: () => Promise.resolve() }

let address: string
let client: Client
const running = new Set<() => Promise<void>>()

beforeEach(async () => {
  ;({ address, client } = await joinTemporal())
})
afterEach(async () => {
  await Promise.all([...running].map((stop) => stop()))
  await client.connection.close()
})

/** A worker of a numbered version. */
function start(buildId: string, mark: number, { isAutomatic = true, goneMs = 90_000 } = {}) {
  const { log, lines } = createCapturedLog('worker', 'info')
  const version = versionOf(buildId)
  const stopping = new AbortController()
  const options = {
    ...{ namespace: client.options.namespace, taskQueue: TASK_QUEUE },
    ...{ workflowBundle: workflowBundle(), shutdownGraceTime: '1s' },
    activities: { recordYields: () => Promise.resolve({ recorded: mark, unavailable: [] }) },
    workerDeploymentOptions: {
      useWorkerVersioning: true as const,
      version,
      defaultVersioningBehavior: 'AUTO_UPGRADE' as const,
    },
  }
  const service = { address, options, temporal, log }
  const times = { lookEveryMs: LOOK_EVERY_MS, goneMs }
  const watched = { client, version, isAutomatic, temporal, log, ...times }
  const rollout = watchRollout(watched, stopping.signal)
  const over = Promise.all([serveTasks(service, stopping.signal), rollout.ended])
  const stop = async () => {
    running.delete(stop)
    stopping.abort()
    await over
  }
  running.add(stop)
  return {
    stop,
    rollout,
    async untilLogged(text: string): Promise<Record<string, unknown>> {
      for (;;) {
        const line = lines.find((one) => one.includes(text))
        if (line) return JSON.parse(line) as Record<string, unknown>
        await sleep(50)
      }
    },
  }
}

const isCurrent = 'worker version is current'
const isNotCurrent = 'worker version is not current'

/** The number of the version that executes a new workflow. */
async function executedBy(): Promise<number> {
  const run = { taskQueue: TASK_QUEUE, workflowId: newId('test_') }
  const handle = await client.workflow.start<typeof snapshotYields>('snapshotYields', run)
  const { recorded } = await handle.result()
  return recorded
}

const executeMany = () => Promise.all(Array.from({ length: 10 }, executedBy))
const ten = (mark: number) => Array.from({ length: 10 }, () => mark)

/** Temporal applies a change of the routing shortly after its response. */
async function untilExecutedBy(mark: number): Promise<void> {
  while ((await executeMany()).some((one) => one !== mark)) await sleep(50)
}

describe('an automatic rollout', () => {
  test('a new version becomes current at its start, and a restart of the older one does not change that', async () => {
    const older = start('older', 1)
    await older.untilLogged(isCurrent)
    expect(await executeMany()).toEqual(ten(1))
    const newer = start('newer', 2)
    await newer.untilLogged(isCurrent)
    await untilExecutedBy(2)
    await older.stop()
    const again = start('older', 1)
    await again.untilLogged(isNotCurrent)
    expect(await executeMany()).toEqual(ten(2))
  })

  test('the older version becomes current when no worker of the newer one is left, and workflows continue', async () => {
    const older = start('first', 1, { goneMs: GONE_MS })
    await older.untilLogged(isCurrent)
    const newer = start('second', 2)
    await newer.untilLogged(isCurrent)
    await older.untilLogged(isNotCurrent)
    await newer.stop()
    expect(await executeMany()).toEqual(ten(1))
  })

  test('two workers of one version are always current', async () => {
    const workers = [start('shared', 7), start('shared', 7)]
    await Promise.all(workers.map((one) => one.untilLogged(isCurrent)))
    expect(await executeMany()).toEqual(ten(7))
  })
})

describe('a manual rollout', () => {
  test('starts nothing until an operator runs the logged command', async () => {
    const older = start('before', 1)
    await older.untilLogged(isCurrent)
    const manual = start('manual', 2, { isAutomatic: false })
    const { command } = await manual.untilLogged(isNotCurrent)
    expect(await executeMany()).toEqual(ten(1))
    expect(manual.rollout.isCurrent()).toBe(false)

    const [, ...args] = String(command).split(' ')
    const { file } = await findTemporalCli()
    await promisify(execFile)(file, [...args, '--address', address, '--yes'])
    await manual.untilLogged(isCurrent)
    expect(manual.rollout.isCurrent()).toBe(true)
    await untilExecutedBy(2)
    await older.untilLogged(isNotCurrent)
  })

  test('starts nothing when no worker of the current version is left, and logs it', async () => {
    const newer = start('served', 1)
    await newer.untilLogged(isCurrent)
    await newer.stop()
    const manual = start('waiting', 2, { isAutomatic: false })
    expect(await manual.untilLogged(isNotCurrent)).toMatchObject({ current: 'served' })
    const run = { taskQueue: TASK_QUEUE, workflowId: newId('test_') }
    const handle = await client.workflow.start('snapshotYields', run)
    // A worker of the current version would have received it by then.
    await sleep(500)
    const { historyLength } = await handle.describe()
    // Started and scheduled only.
    expect(historyLength).toBe(2)
  })
})
