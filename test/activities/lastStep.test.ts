import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createActivities, type Activities } from '../../activities/index.js'
import { createRegistry } from '../../evm/registry.js'
import { connect, type Db } from '../../db/client/connect.js'
import { operationId } from '../../operations/operationId.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  testPlan,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { outcomesByHand } from '../support/outcomes.js'
import type { StepInput, Tools } from '../../activities/step.js'
import type { DepositStep } from '../../domain/intent/intent.js'

let database: TestDatabase
let worker: Db
let activities: Activities
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'), 5)
  activities = createActivities({
    db: worker,
    registry: createRegistry('testnet'),
    stopping: new AbortController().signal,
    outcomes: outcomesByHand(),
  } as unknown as Tools)
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db)
})
afterAll(async () => {
  await worker?.destroy()
  await database?.drop()
})

const inBlock = {
  ...{ tx_hash: '0x01', block_number: 5, block_hash: '0x02', log_index: 0, units: '7' },
  ...{ gas_used: '1', gas_cost_usd: '0', success: true },
}
const deposited = { state: 'confirmed', ...inBlock }

/** The result of a deposit whose operation is done, and the status of its intent. */
async function deposit(
  changes: Partial<StepInput<DepositStep>>,
  values: Record<string, unknown> = {},
  status: 'executing' | 'failed' = 'executing',
) {
  const { db } = database
  const intentId = await insertTestIntent(db, wallet, status, values)
  const id = operationId(intentId, 1, 'deposit')
  await insertTestOperation(db, wallet, intentId, { id, ...deposited })
  const step = { type: 'deposit', sequence: 1, amount: '1', chain: 'arbitrum-sepolia' }
  const input = {
    ...{ intentId, accountId: wallet.accountId, walletId: wallet.id, deadlineMs: Infinity },
    ...{ step: step as DepositStep, ...changes },
  }
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  const result = await environment.run(activities.deposit, input)
  const again = await environment.run(activities.deposit, input)
  expect(again).toEqual(result)
  const intent = await db('intent').where({ id: intentId }).first<{ status: string }>()
  const ends = await db('intent_event').where({ intent_id: intentId, type: 'completed' })
  return { result, status: intent.status, ends: ends.length }
}

test('the last step completes its intent exactly once', async () => {
  const { result, ...intent } = await deposit({ isLast: true })
  expect(result).toMatchObject({ txHash: '0x01', units: '7', isCompleted: true })
  expect(intent).toEqual({ status: 'completed', ends: 1 })
})

test('another step does not complete the intent', async () => {
  const { result, ...intent } = await deposit({})
  expect(result).not.toHaveProperty('isCompleted')
  expect(intent).toEqual({ status: 'executing', ends: 0 })
})

test('a step marked as the last one does not complete an intent with open steps', async () => {
  const plan = testPlan('1')
  const steps = [1, 2].map((sequence) => ({ ...plan.steps[0], sequence }))
  const open = await deposit({ isLast: true }, { plan: JSON.stringify({ ...plan, steps }) })
  const failed = await deposit({ isLast: true }, {}, 'failed')
  for (const { result } of [open, failed]) expect(result).not.toHaveProperty('isCompleted')
  expect(open).toMatchObject({ status: 'executing', ends: 0 })
  expect(failed).toMatchObject({ status: 'failed', ends: 0 })
})
