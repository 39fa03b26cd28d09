import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { Context } from '@temporalio/activity'
import type { Client } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { stillWaiting } from '../../activities/failures.js'
import { newId } from '../../db/connection/ids.js'
import { connectTemporal } from '../../temporal/connect.js'
import { wakeStep } from '../../temporal/wakeStep.js'
// The SDK says little then.
import '../support/temporal/temporal.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'
import type { fundWallet } from '../../workflows/fundWallet.js'

const HOUR_MS = 3_600_000
const taskQueue = 'intents'
const paid = { txHash: '0x01', units: '1000000' }

let server: TemporalServer
let client: Client
let connection: NativeConnection
let worker: Worker
let running: Promise<void>
/** Fundings whose outcome is there, and what each attempt found in its heartbeat details. */
const over = new Set<string>()
const attempts: { fundingId: string; told: unknown }[] = []
const countAttempts = (id: string) => attempts.filter(({ fundingId }) => fundingId === id).length

/** Waits as a step does whose attempt is over: for an hour, should nobody wake it. */
function fund({ fundingId }: { fundingId: string }) {
  const context = Context.current()
  attempts.push({ fundingId, told: context.info.heartbeatDetails })
  if (over.has(fundingId)) return Promise.resolve(paid)
  context.heartbeat({ what: 'MINING' })
  return Promise.reject(stillWaiting('waits', HOUR_MS))
}

beforeAll(async () => {
  server = await startTemporalServer()
  client = connectTemporal(server.address, 'default')
  connection = await NativeConnection.connect({ address: server.address })
  const options = { connection, taskQueue, workflowBundle: workflowBundle(), activities: { fund } }
  worker = await Worker.create(options)
  running = worker.run()
})
afterAll(async () => {
  worker?.shutdown()
  await running
  await connection?.close()
  await client?.connection.close()
  await server?.stop()
})

/** A funding whose step waits, its attempt being over. */
async function startWaiting() {
  const fundingId = newId('fund_')
  const handle = await client.workflow.start<typeof fundWallet>('fundWallet', {
    ...{ workflowId: fundingId, taskQueue, args: [{ fundingId }] },
  })
  const pending = async () => (await handle.describe()).raw.pendingActivities?.[0]
  while (Number((await pending())?.attempt ?? 0) < 2) await sleep(20)
  return { fundingId, handle, pending }
}

describe('wakeStep', () => {
  test('a step that would sleep for an hour is tried again, and knows what it has told', async () => {
    const { fundingId, handle } = await startWaiting()
    over.add(fundingId)
    await wakeStep(client, { workflowId: fundingId, activity: 'fund' })
    expect(await handle.result()).toEqual({ txHash: paid.txHash })
    const own = attempts.filter((attempt) => attempt.fundingId === fundingId)
    expect(own).toEqual([
      { fundingId, told: undefined },
      { fundingId, told: { what: 'MINING' } },
    ])
    const { events } = await handle.fetchHistory()
    // One start, one activity, one end: that it was woken is no part of the story.
    expect(events?.length).toBe(11)
  })

  test('of what is over or has another step it asks nothing', async () => {
    const { fundingId, handle } = await startWaiting()
    await wakeStep(client, { workflowId: fundingId, activity: 'deposit' })
    expect(countAttempts(fundingId)).toBe(1)
    over.add(fundingId)
    await wakeStep(client, { workflowId: fundingId, activity: 'fund' })
    await handle.result()
    await wakeStep(client, { workflowId: fundingId, activity: 'fund' })
    await wakeStep(client, { workflowId: newId('fund_'), activity: 'fund' })
  })

  test('what an operator has paused stays paused', async () => {
    const { fundingId, handle, pending } = await startWaiting()
    const execution = { workflowId: fundingId }
    const target = { namespace: 'default', execution, type: 'fund' }
    await client.workflowService.pauseActivity({ ...target, reason: 'a test' })
    over.add(fundingId)
    await wakeStep(client, { workflowId: fundingId, activity: 'fund' })
    expect(await pending()).toMatchObject({ paused: true })
    expect(countAttempts(fundingId)).toBe(1)
    await client.workflowService.unpauseActivity(target)
    await handle.result()
  })
})
