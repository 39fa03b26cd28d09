import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileURLToPath } from 'node:url'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import { sleepFor } from './sleepWorkflow.js'
import { createTimeSkippingEnvironment } from './temporal.js'

const THREE_DAYS_MS = 72 * 3_600_000
const taskQueue = 'sleep'

describe('time-skipping environment', () => {
  let environment: TestWorkflowEnvironment
  let worker: Worker

  beforeAll(async () => {
    environment = await createTimeSkippingEnvironment()
    worker = await Worker.create({
      connection: environment.nativeConnection,
      workflowsPath: fileURLToPath(new URL('sleepWorkflow.ts', import.meta.url)),
      taskQueue,
    })
  })
  afterAll(() => environment?.teardown())

  test('a workflow that sleeps three days ends within the time limit of a test', async () => {
    const run = { taskQueue, workflowId: 'sleep', args: [THREE_DAYS_MS] as [number] }
    const slept = await worker.runUntil(environment.client.workflow.execute(sleepFor, run))
    expect(slept).toBeGreaterThanOrEqual(THREE_DAYS_MS)
  })
})
