import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { findFunding } from '../../db/intents/fundings.js'
import { connectTemporal } from '../../temporal/connect.js'
import { startFunding } from '../../temporal/start.js'
import { registerSearchAttributes } from '../../temporal/searchAttributes.js'
import { insertTestFunding, insertTestWallet, type TestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
// The SDK says little then.
import '../support/temporal/temporal.js'
import { startTemporalServer, type TemporalServer } from '../support/temporal/temporalServer.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'
import type { Tier } from '../../domain/tiers.js'

const FLOOD = 150
const FEW = 5
/** So many of the first belong to those who came last: their share of each round, and what was under way before. */
const SOON = 60

let database: TestDatabase
let server: TemporalServer
let client: Client

beforeAll(async () => {
  database = await createDatabase()
  server = await startTemporalServer()
  client = connectTemporal(server.address, 'default')
  await registerSearchAttributes(client)
})
afterAll(async () => {
  await client?.connection.close()
  await server?.stop()
  await database?.drop()
})

async function start(wallet: TestWallet, tier: Tier, count: number): Promise<string[]> {
  const { db } = database
  const ids: string[] = []
  for (let i = 0; i < count; i += 1) {
    const id = await insertTestFunding(db, wallet)
    const funding = await findFunding(db, id)
    if (!funding) throw new Error('No funding.')
    await startFunding({ temporal: client, db }, { funding, tier })
    ids.push(id)
  }
  return ids
}

/** The fundings in the order in which a worker with few slots executes them. */
async function execute(count: number): Promise<string[]> {
  const order: string[] = []
  const connection = await NativeConnection.connect({ address: server.address })
  const fund = ({ fundingId }: { fundingId: string }) => {
    order.push(fundingId)
    if (order.length === count) worker.shutdown()
    return Promise.resolve({ txHash: '0x01', units: '1' })
  }
  const worker = await Worker.create({
    ...{ connection, taskQueue: 'intents', workflowBundle: workflowBundle(), activities: { fund } },
    ...{ maxConcurrentWorkflowTaskExecutions: 2, maxConcurrentWorkflowTaskPolls: 2 },
    ...{ maxConcurrentActivityTaskExecutions: 1, maxConcurrentActivityTaskPolls: 1 },
  })
  await worker.run()
  await connection.close()
  return order
}

test('an account that floods holds up nobody who comes after it, and plans are served in their order', async () => {
  const [flooding, small, paying] = await Promise.all(
    [1, 2, 3].map(() => insertTestWallet(database.db)),
  )
  if (!flooding || !small || !paying) throw new Error('No wallets.')
  const flood = await start(flooding, 'free', FLOOD)
  const few = await start(small, 'free', FEW)
  const paid = await start(paying, 'enterprise', FEW)
  const order = await execute(flood.length + few.length + paid.length)
  const lastOf = (ids: string[]) => Math.max(...ids.map((id) => order.indexOf(id)))
  expect(lastOf(few)).toBeLessThan(SOON)
  expect(lastOf(paid)).toBeLessThan(lastOf(few) + FEW)
  expect(lastOf(flood)).toBeGreaterThan(FLOOD)
})
