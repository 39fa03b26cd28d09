import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { connectTemporal } from '../../../temporal/connect.js'
import { searchAttributes, searchAttributeTypes } from '../../../temporal/searchAttributes.js'
import { TypedSearchAttributes } from '@temporalio/common'
// The SDK says little then.
import '../../support/temporal/temporal.js'
import { startTemporalServer, type TemporalServer } from '../../support/temporal/temporalServer.js'
import { workflowBundle } from '../../support/temporal/workflowBundle.js'

const WORKFLOWS = 5

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

test('a fresh server knows the search attributes', async () => {
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
    namespace: 'default',
  })
  expect(customAttributes).toEqual(searchAttributeTypes)
})

test('a step goes to the worker that has asked for it, by no queue, and no workflow reads what search attributes there are', async () => {
  const before = await readCounts()
  await fundWallets()
  let counts = await readCounts()
  const counted = (name: string) => (counts[name] ?? 0) - (before[name] ?? 0)
  // The server shows what it has counted once a second.
  while (counted('RespondActivityTaskCompleted') < WORKFLOWS) {
    await sleep(100)
    counts = await readCounts()
  }
  expect(counted('AddActivityTask')).toBe(0)
  expect(counted('GetCurrentClusterMetadata')).toBeLessThan(WORKFLOWS)
})

async function fundWallets(): Promise<void> {
  const connection = await NativeConnection.connect({ address: server.address })
  const worker = await Worker.create({
    connection,
    taskQueue: 'steps',
    workflowBundle: workflowBundle(),
    activities: { fund: () => Promise.resolve({ txHash: '0x' }) },
  })
  try {
    await worker.runUntil(
      Promise.all(
        Array.from({ length: WORKFLOWS }, (_, i) =>
          client.workflow.execute('fundWallet', {
            workflowId: `fund ${i}`,
            taskQueue: 'steps',
            args: [{ fundingId: `fund_${i}` }],
            typedSearchAttributes: new TypedSearchAttributes([
              { key: searchAttributes.intentAction, value: 'fund' },
            ]),
          }),
        ),
      ),
    )
  } finally {
    await connection.close()
  }
}

/** How often the server's parts asked each other, and the database, by the name of what was asked. */
async function readCounts(): Promise<Record<string, number>> {
  const text = await (await fetch(server.metricsUrl)).text()
  const counts: Record<string, number> = {}
  for (const line of text.split('\n')) {
    const [, operation = '', count] =
      /^(?:service|persistence)_requests\{.*operation="(\w+)".*\} (\S+)$/.exec(line) ?? []
    counts[operation] = (counts[operation] ?? 0) + Number(count ?? 0)
  }
  return counts
}
