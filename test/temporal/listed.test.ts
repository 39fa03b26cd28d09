import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError, type Client } from '@temporalio/client'
import type { TypedSearchAttributes } from '@temporalio/common'
import { NativeConnection, Worker } from '@temporalio/worker'
import { newId } from '../../db/connection/ids.js'
import { BUILD_ID } from '../../temporal/build.js'
import { connectTemporal } from '../../temporal/connect.js'
import { searchAttributes } from '../../temporal/searchAttributes.js'
import { startFunding, startListed } from '../../temporal/start.js'
// The SDK says little then.
import '../support/temporal/temporal.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'
import type { Funding } from '../../db/intents/fundings.js'

/** Long enough for a server that would list a running workflow anew to do so. */
const FUND_MS = 1_500
const FUNDINGS = 5

let server: TemporalServer
let client: Client

beforeAll(async () => {
  server = await startTemporalServer()
  client = connectTemporal(server.address, 'default')
})
afterAll(async () => {
  await client?.connection.close()
  await server?.stop()
})

test('a workflow is written into the lists of Temporal at its start and at its end, and no time between', async () => {
  const ids = Array.from({ length: FUNDINGS }, () => newId('fund_'))
  await fundAll(ids)
  let counts = await readListings()
  // The server shows what it has counted once a second.
  while ((counts.VisibilityTaskCloseExecution ?? 0) < FUNDINGS) {
    await sleep(100)
    counts = await readListings()
  }
  expect(counts).toEqual({
    VisibilityTaskStartExecution: FUNDINGS,
    VisibilityTaskCloseExecution: FUNDINGS,
  })
  const { raw } = await client.workflow.getHandle(ids[0] ?? '').describe()
  const builds = raw.workflowExecutionInfo?.searchAttributes?.indexedFields?.BuildIds?.data
  expect(JSON.parse(String(builds))).toEqual(['unversioned', `unversioned:${BUILD_ID}`])
})

test('a server that lets nobody say which build works on a workflow is told it once, and starts what it is asked for', async () => {
  const asked: string[][] = []
  // No server of today refuses it: this one answers as one does that is told of an attribute of its own.
  const start = (attributes: TypedSearchAttributes) => {
    const names = attributes.getAll().map(({ key }) => key.name)
    asked.push(names)
    if (!names.includes('BuildIds')) return Promise.resolve('started')
    const details = "BuildIds attribute can't be set in SearchAttributes"
    const cause = Object.assign(new Error(details), { code: 3, details, metadata: {} })
    return Promise.reject(new ServiceError('Failed to start Workflow', { cause }))
  }
  const pairs = [{ key: searchAttributes.intentAction, value: 'fund' }]
  expect(await startListed(pairs, start)).toBe('started')
  expect(await startListed(pairs, start)).toBe('started')
  expect(asked).toEqual([['IntentAction', 'BuildIds'], ['IntentAction'], ['IntentAction']])
})

async function fundAll(ids: string[]): Promise<void> {
  const connection = await NativeConnection.connect({ address: server.address })
  const fund = () => sleep(FUND_MS).then(() => ({ txHash: '0x' }))
  const worker = await Worker.create({
    ...{ connection, taskQueue: 'intents', workflowBundle: workflowBundle(), buildId: BUILD_ID },
    activities: { fund },
  })
  try {
    await worker.runUntil(
      Promise.all(
        ids.map(async (id) => {
          const funding = { id, accountId: newId('acc_'), walletId: newId('wal_') } as Funding
          await startFunding(client, { funding, tier: 'free' })
          await client.workflow.getHandle(id).result()
        }),
      ),
    )
  } finally {
    await connection.close()
  }
}

/** How often the server was to write a workflow into its lists, by the name of what it was to write. */
async function readListings(): Promise<Record<string, number>> {
  const text = await (await fetch(server.metricsUrl)).text()
  const pattern =
    /^task_requests\{.*namespace="default",operation="(VisibilityTask\w+)".*\} (\S+)$/gm
  return Object.fromEntries(
    [...text.matchAll(pattern)].map(([, name, count]) => [name ?? '', Number(count)]),
  )
}
