import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import threads from 'node:worker_threads'
import type { Client } from '@temporalio/client'
import { findFreePorts } from '../../dev/ports.js'
import { connectTemporal } from '../../temporal/connect.js'
import { serveTasks } from '../../worker/serve.js'
import { lightenWorkflowThreads } from '../../worker/workflowThreads.js'
import { createHeardLog } from '../support/heardLog.js'
// The SDK says little then.
import '../support/temporal/temporal.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'

const taskQueue = 'clinging'
const workflowsPath = fileURLToPath(new URL('clingingWorkflows.ts', import.meta.url))
const temporal = { isThere: () => Promise.resolve(true), untilThere: () => Promise.resolve() }
/** Ten looks are more than the five seconds after which the SDK would have ended the call. */
const LOOK_MS = 600
const PATIENCE_MS = 10_000

const { Worker } = threads
let address: string
let client: Client
let server: TemporalServer | undefined

beforeAll(async () => {
  const [port = 0] = await findFreePorts(1)
  address = `127.0.0.1:${port}`
  server = await startTemporalServer(port)
  client = connectTemporal(address, 'default')
})
afterAll(async () => {
  Object.assign(threads, { Worker })
  await client?.connection.close()
  await server?.stop()
})

/** Of a workflow that waits: for what, as the Temporal UI shows it. */
async function readCallStack(workflowId: string): Promise<string> {
  const waiting = await client.workflow.start('wait', { taskQueue, workflowId })
  const read = () => waiting.query<string>('__stack_trace')
  const stack = await client.withDeadline(Date.now() + PATIENCE_MS, read)
  await waiting.terminate()
  return stack
}

describe('a workflow that does not let go of its thread', () => {
  test('has the thread ended once, then fails by itself, while others come to their end', async () => {
    const { log, lines } = createHeardLog('worker', 'info')
    const said = () => lines.join('')
    lightenWorkflowThreads(log, LOOK_MS)
    const options = { taskQueue, workflowsPath, reuseV8Context: true }
    const stop = new AbortController()
    const serving = serveTasks({ address, options, temporal, log }, stop.signal)
    const letGo = (workflowId: string) =>
      client.workflow.execute('letGo', { taskQueue, workflowId })
    expect(await letGo('before')).toBe('over')
    expect(await readCallStack('waits before')).toBe('')

    const run = { taskQueue, workflowId: 'clinging', workflowTaskTimeout: '7s' }
    const clinging = await client.workflow.start('cling', run)
    while (!said().includes('the Temporal worker ended')) await sleep(20)
    expect(said()).toContain('a workflow does not let go of its thread')

    const readAttempt = async () => (await clinging.describe()).raw.pendingWorkflowTask?.attempt
    while (Number(await readAttempt()) < 3) await sleep(100)
    expect(await letGo('after')).toBe('over')
    expect(await readCallStack('waits after')).toContain('at wait')
    expect(said().match(/does not let go/g)).toHaveLength(1)
    await clinging.terminate()
    stop.abort()
    expect(await serving).toBeUndefined()
  })
})
