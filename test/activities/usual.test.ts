import { afterAll, beforeAll, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import {
  completeIfLast,
  runStep,
  type StepResult,
  type StepRun,
  type Tools,
} from '../../activities/step.js'
import { createRegistry } from '../../evm/registry.js'
import { connect, type Db } from '../../db/client/connect.js'
import { watchOutcomes } from '../../operations/watchOutcomes.js'
import { operationId } from '../../operations/operationId.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import type { Unsettled } from '../../domain/intent/waitReason.js'
import type { OnChange } from '../../db/client/listen.js'

let database: TestDatabase
let db: Db

beforeAll(async () => {
  database = await createDatabase()
  db = connect(database.urlAs('steward_worker'), SESSIONS)
})
afterAll(async () => {
  await db?.destroy()
  await database?.drop()
})

/** More connections of the worker's pool than the share of an account. */
const SESSIONS = 10
const inBlock = { block_number: 1, block_hash: '0x', tx_hash: '0x01', log_index: 0, units: '7' }

type OperationRequest = StepRun['order']

/** A deposit of a new intent. */
async function insertOrder(wallet: TestWallet): Promise<OperationRequest> {
  const intentId = await insertTestIntent(database.db, wallet, 'planning')
  return {
    ...{ intentId, sequence: 1, kind: 'deposit' as const, chainId: 421_614 },
    ...{ accountId: wallet.accountId, walletId: wallet.id },
  }
}

/** The tools of a worker, and functions that settle operations elsewhere. */
function createTools() {
  const stop = new AbortController()
  let announce: OnChange = () => undefined
  const listener = {
    subscribe: (onChange: OnChange) => {
      announce = onChange
      return () => undefined
    },
  }
  const stopping = stop.signal
  const outcomes = watchOutcomes({ db, listener, stopping })
  const tools = { db, outcomes, stopping, registry: createRegistry('testnet') } as unknown as Tools
  const confirm = async (id: string) => {
    await operation(id).update({ state: 'confirmed', success: true })
    announce({ id, state: 'confirmed' })
  }
  return { tools, confirm, stop: () => stop.abort() }
}

const idOf = ({ intentId, sequence, kind }: OperationRequest) =>
  operationId(intentId, sequence, kind)
const operation = (id: string) => database.db('operation').where({ id })

async function untilOrdered(id: string): Promise<void> {
  while (!(await operation(id).first<object | undefined>('id'))) await sleep(20)
}

function run(
  tools: Tools,
  order: OperationRequest,
  isLast?: true,
): Promise<StepResult | Unsettled> {
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  return environment.run(async () => {
    const result = await runStep(tools, { order, deadlineMs: Infinity })
    return completeIfLast(tools, { intentId: order.intentId, ...(isLast && { isLast }) }, result)
  })
}

const statusOf = async ({ intentId }: OperationRequest) =>
  (await database.db('intent').where({ id: intentId }).pluck<string[]>('status'))[0]

test('an intent completes together with its last step', async () => {
  const wallet = await insertTestWallet(database.db)
  const orders = Array.from({ length: 8 }, () => insertOrder(wallet))
  const [first, ...rest] = await Promise.all(orders)
  if (!first) throw new Error('No orders.')
  const { tools, confirm, stop } = createTools()
  const lasts = rest.map((order) => run(tools, order, true))
  const step = run(tools, first)
  const ids = [first, ...rest].map(idOf)
  for (const id of ids) {
    await untilOrdered(id)
    await operation(id).update({ state: 'mined', ...inBlock })
  }
  await Promise.all(ids.map(confirm))
  await Promise.all([step, ...lasts])
  stop()
  expect(await Promise.all(rest.map(statusOf))).toEqual(rest.map(() => 'completed'))
  // It is not the last step.
  expect(await statusOf(first)).toBe('executing')
})

test('an account whose intents are locked delays no operation of another account', async () => {
  const [held, free] = await Promise.all([1, 2].map(() => insertTestWallet(database.db)))
  if (!held || !free) throw new Error('No wallets.')
  const orders = await Promise.all(Array.from({ length: SESSIONS + 5 }, () => insertOrder(held)))
  const other = await insertOrder(free)
  const { tools, confirm, stop } = createTools()
  const locking = await database.db.transaction()
  await locking('intent').where({ account_id: held.accountId }).forUpdate().select('id')
  const steps = orders.map((order) => run(tools, order))
  const step = run(tools, other)
  await untilOrdered(idOf(other))
  const counted = database.db('operation').where({ account_id: held.accountId })
  expect(await counted.clone().first('id')).toBeUndefined()
  await locking.commit()
  for (const id of [...orders, other].map(idOf)) {
    await untilOrdered(id)
    await operation(id).update({ state: 'mined', ...inBlock })
    await confirm(id)
  }
  await Promise.all([step, ...steps])
  stop()
})
