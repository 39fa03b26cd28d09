import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ApplicationFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { finalizeIntent } from '../../activities/status.js'
import { assertFed, runStep, type StepInput, type Tools } from '../../activities/step.js'
import { connect, type Db } from '../../db/client/connect.js'
import { operationId } from '../../operations/operationId.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { outcomesByHand } from '../support/outcomes.js'
import type { IntentFailure, PlanStep } from '../../domain/intent/intent.js'
import type { OperationKind } from '../../domain/intent/operation.js'

const chain = 'arbitrum-sepolia'
let database: TestDatabase
let worker: Db
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  worker = connect(database.urlAs('steward_worker'))
  await database.db('chain').insert({
    ...{ id: 421_614, name: chain, indexed_block: 9, indexed_hash: '0x', finalized_block: 1 },
  })
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db)
})
afterAll(async () => {
  await worker?.destroy()
  await database?.drop()
})

const shared = { chain, asset: 'USDC', protocol: 'aave-v3', market: '0x01' }
const swap = { type: 'swap', chain, asset: 'TUSD', toAsset: 'USDC', protocol: 'uniswap-v3' }
/** Two markets are emptied. The first one returns another stablecoin, which is swapped. */
const steps = [
  { type: 'withdraw', sequence: 1, ...shared, asset: 'TUSD', amount: '1' },
  { ...swap, sequence: 2, amount: '1', arrives: '1', minimum: '0.99' },
  { type: 'withdraw', sequence: 3, ...shared, amount: '2' },
] as PlanStep[]
const plan = { strategy: 'direct-withdraw', targetChain: chain, steps, reasoning: 'test' }

const create = () =>
  insertTestIntent(database.db, wallet, 'executing', {
    ...{ action: 'withdraw', plan: JSON.stringify(plan) },
  })
const inBlock = {
  ...{ tx_hash: '0x01', block_number: 5, block_hash: '0x02', log_index: 0 },
  ...{ gas_used: '1', gas_cost_usd: '0' },
}
const success = { state: 'confirmed', ...inBlock, success: true, units: '1000000' }
const failed = { state: 'confirmed', ...inBlock, success: false }
const vanished = { state: 'signed', success: true, units: '1000000' }

async function operate(intentId: string, sequence: number, kind: OperationKind, values: object) {
  const id = operationId(intentId, sequence, kind)
  await insertTestOperation(database.db, wallet, intentId, { id, sequence, kind, ...values })
}
const errorOf = async (id: string) =>
  (await database.db('intent').where({ id }).first<{ error: IntentFailure }>('error')).error

describe('finalizeIntent: an earlier step that a reorg changed', () => {
  test('to failed ends the intent with its failure, and with the output of later steps', async () => {
    const id = await create()
    await operate(id, 1, 'withdraw', failed)
    await operate(id, 3, 'withdraw', { ...success, units: '2000000' })
    expect(await finalizeIntent(worker, { intentId: id })).toEqual({ status: 'failed' })
    expect(await errorOf(id)).toMatchObject({
      ...{ code: 'WITHDRAW_FAILED', step: 1 },
      funds: [
        { chain, asset: 'USDC', amount: '2' },
        { chain, asset: 'TUSD', amount: '1', protocol: 'aave-v3' },
      ],
    })
  })

  test('to open leaves the intent executing, regardless of the reported failure', async () => {
    const id = await create()
    await operate(id, 1, 'withdraw', vanished)
    await operate(id, 2, 'swap', failed)
    const failure = { code: 'SWAP_FAILED', message: 'x', step: 2 }
    expect(await finalizeIntent(worker, { intentId: id, failure })).toEqual({ status: 'executing' })
    expect(await finalizeIntent(worker, { intentId: id })).toEqual({ status: 'executing' })
  })

  test('from failed to done leaves the intent executing', async () => {
    const id = await create()
    await operate(id, 1, 'withdraw', success)
    const failure = { code: 'WITHDRAW_FAILED', message: 'x', step: 1 }
    expect(await finalizeIntent(worker, { intentId: id, failure })).toEqual({ status: 'executing' })
  })
})

describe('a step after one that a reorg changed to failed', () => {
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  const outcomes = outcomesByHand()
  const toolsOf = () =>
    ({ db: database.db, outcomes, stopping: AbortSignal.abort() }) as unknown as Tools
  const failureOf = (body: () => Promise<unknown>) =>
    environment.run(body).then(
      () => undefined,
      (error: unknown) => error as ApplicationFailure,
    )

  test('ends at once without an operation, because its input is missing', async () => {
    const id = await create()
    await operate(id, 1, 'withdraw', failed)
    const fedBy = { sequence: 1, kind: 'withdraw' as const }
    const input = { intentId: id, fedBy, step: steps[1] } as StepInput<PlanStep>
    const failure = await failureOf(() => assertFed(toolsOf(), input))
    expect(failure).toMatchObject({ type: 'WITHDRAW_FAILED', nonRetryable: true })
  })

  test.each([
    ['failed', failed, true],
    ['open again', vanished, undefined],
    ['done', success, undefined],
  ])(
    'that is %s: a queued operation expires only when the intent cannot complete',
    async (_what, row, over) => {
      const id = await create()
      await operate(id, 1, 'withdraw', row)
      await operate(id, 3, 'withdraw', { state: 'queued' })
      const order = {
        ...{ intentId: id, sequence: 3, kind: 'withdraw' as const, chainId: 421_614 },
        ...{ accountId: wallet.accountId, walletId: wallet.id },
      }
      const failure = await failureOf(() => runStep(toolsOf(), { order, deadlineMs: Infinity }))
      expect(failure?.nonRetryable ?? undefined).toBe(over ?? false)
      const state = await database
        .db('operation')
        .where({ intent_id: id, sequence: 3 })
        .first<{ state: string }>('state')
      expect(state).toEqual({ state: over ? 'cancelled' : 'queued' })
    },
  )
})
