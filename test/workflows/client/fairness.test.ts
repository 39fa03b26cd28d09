import { afterAll, beforeAll, expect, test } from 'vitest'
import { isGrpcServiceError, type Client } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { findFunding } from '../../../db/intents/fundings.js'
import { startFunding, type FundingStart } from '../../../workflows/client/start.js'
import { insertTestFunding, insertTestWallet, type TestWallet } from '../../db/rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { joinTemporal } from '../../support/temporal/joinTemporal.js'
import { workflowBundle } from '../../support/temporal/workflowBundle.js'
import type { Tier } from '../../../domain/tiers.js'

const FLOOD = 150
const FEW = 10
const AT_ONCE = 16
/** Executions until all late accounts are served: half of them are theirs, plus those polled before. */
const SOON = 2 * FEW + 30

let database: TestDatabase
let address: string
let client: Client

beforeAll(async () => {
  database = await createDatabase()
  ;({ address, client } = await joinTemporal())
})
afterAll(async () => {
  await client?.connection.close()
  await database?.drop()
})

async function start(wallet: TestWallet, tier: Tier, count: number): Promise<string[]> {
  const { db } = database
  const ids = await Promise.all(Array.from({ length: count }, () => insertTestFunding(db, wallet)))
  const waiting = [...ids]
  const startWaiting = async () => {
    for (let id = waiting.pop(); id; id = waiting.pop()) {
      const funding = await findFunding(db, id)
      if (!funding) throw new Error('No funding.')
      await startInTheEnd({ funding, tier })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, startWaiting))
  return ids
}

/** Retries a start that timed out, as the sweeper does. */
async function startInTheEnd(start: FundingStart): Promise<void> {
  for (;;) {
    try {
      return await startFunding(client, start)
    } catch (error) {
      if (!isGrpcServiceError((error as Error).cause)) throw error
    }
  }
}

/** Fundings in the order of their execution by a worker with few slots, until the given ones are done. */
async function executeUntil(done: string[]): Promise<string[]> {
  const order: string[] = []
  const left = new Set(done)
  const connection = await NativeConnection.connect({ address })
  const fund = ({ fundingId }: { fundingId: string }) => {
    order.push(fundingId)
    if (left.delete(fundingId) && left.size === 0) worker.shutdown()
    return Promise.resolve({ txHash: '0x01', units: '1' })
  }
  const worker = await Worker.create({
    ...{ connection, namespace: client.options.namespace, taskQueue: 'intents' },
    ...{ workflowBundle: workflowBundle(), activities: { fund } },
    ...{ maxConcurrentWorkflowTaskExecutions: 2, maxConcurrentWorkflowTaskPolls: 2 },
    ...{ maxConcurrentActivityTaskExecutions: 1, maxConcurrentActivityTaskPolls: 1 },
  })
  await worker.run()
  await connection.close()
  return order
}

test('the flood of one account does not delay later accounts, and plans are served by priority', async () => {
  const [flooding, small, paying] = await Promise.all(
    [1, 2, 3].map(() => insertTestWallet(database.db)),
  )
  if (!flooding || !small || !paying) throw new Error('No wallets.')
  const flood = await start(flooding, 'free', FLOOD)
  const few = await start(small, 'free', FEW)
  const paid = await start(paying, 'enterprise', FEW)
  const order = await executeUntil([...few, ...paid])
  const lastOf = (ids: string[]) => Math.max(...ids.map((id) => order.indexOf(id)))
  expect(flood.length).toBe(FLOOD)
  expect(lastOf(few)).toBeLessThan(SOON)
  expect(lastOf(paid)).toBeLessThan(lastOf(few) + FEW)
})
