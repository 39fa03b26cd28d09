import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@temporalio/client'
import { findFreePorts } from '../../dev/ports.js'
import { connectTemporal } from '../../workflows/client/connect.js'
import { serveTasks } from '../../worker/serve.js'
import { createCapturedLog } from '../support/capturedLog.js'
// Reduces the log of the SDK.
import '../support/temporal/temporal.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'

const taskQueue = 'intents'
const recorded = { recorded: 3, unavailable: [] }
/** Reports Temporal as available, so that only the worker fails. */
const temporal = { untilThere: () => Promise.resolve() }

let port: number
let client: Client
let server: TemporalServer | undefined

beforeAll(async () => {
  ;[port = 0] = await findFreePorts(1)
  client = connectTemporal(`127.0.0.1:${port}`, 'default')
})
afterAll(async () => {
  await client?.connection.close()
  await server?.stop()
})

describe('serveTasks', () => {
  test('creates a new worker after a failed one, until the process stops', async () => {
    const { log, lines } = createCapturedLog('worker', 'info')
    const activities = { recordYields: () => Promise.resolve(recorded) }
    const options = { taskQueue, activities, workflowBundle: workflowBundle() }
    const stop = new AbortController()
    const service = { address: `127.0.0.1:${port}`, options, temporal, log }
    const serving = serveTasks(service, stop.signal)
    while (!lines.join('').includes('Temporal worker failed')) await sleep(20)

    server = await startTemporalServer(port)
    const run = { taskQueue, workflowId: 'one' }
    expect(await client.workflow.execute('snapshotYields', run)).toEqual(recorded)
    stop.abort()
    expect(await serving).toBeUndefined()
  })
})
