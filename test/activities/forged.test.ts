import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createActivities, type Activities } from '../../activities/index.js'
import { assertFed, type StepInput, type Tools } from '../../activities/step.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { outcomesByHand } from '../support/outcomes.js'
import type { BridgeStep, DepositStep, PlanStep } from '../../domain/intent/intent.js'

let database: TestDatabase
let activities: Activities
let wallet: TestWallet

beforeAll(async () => {
  database = await createDatabase()
  const chain = { chainId: 421_614 }
  activities = createActivities({
    db: database.db,
    registry: { get: () => chain },
    stopping: AbortSignal.abort(),
    outcomes: outcomesByHand(),
  } as unknown as Tools)
})
beforeEach(async () => {
  wallet = await insertTestWallet(database.db)
})
afterAll(() => database?.drop())

const run = <Input, Output>(activity: (input: Input) => Promise<Output>, input: Input) =>
  new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
    .run(activity, input)
    .catch((error: unknown) => error)

const intentOf = (id: string) => database.db('intent').where({ id }).first<{ status: string }>()
const operationsOf = (intentId: string) =>
  database.db('operation').where({ intent_id: intentId }).orderBy('sequence').select('state')

describe('finalizeIntent with a reported failure', () => {
  const failure = { code: 'DEPOSIT_FAILED', message: 'by hand', step: 1 }
  const deferred = {
    ...{ state: 'deferred', code: 'RPC_ERROR', message: 'no answer', retry_after: new Date() },
  }

  test.each([undefined, { state: 'queued' }, deferred])(
    'of which no row knows ends nothing: %j',
    async (operation) => {
      const intentId = await insertTestIntent(database.db, wallet, 'executing')
      if (operation) await insertTestOperation(database.db, wallet, intentId, operation)
      const before = await operationsOf(intentId)
      for (const code of ['DEPOSIT_FAILED', 'BRIDGE_TIMEOUT', 'RPC_ERROR', 'CANCELLED']) {
        const input = { intentId, failure: { ...failure, code } }
        expect(await run(activities.finalizeIntent, input)).toEqual({ status: 'executing' })
      }
      expect(await operationsOf(intentId)).toEqual(before)
    },
  )

  test('fails the intent with the failure of its row', async () => {
    const intentId = await insertTestIntent(database.db, wallet, 'executing')
    const rejected = { state: 'rejected', code: 'SWAP_FAILED', message: 'the pool moved' }
    await insertTestOperation(database.db, wallet, intentId, rejected)
    expect(await run(activities.finalizeIntent, { intentId, failure })).toMatchObject({
      status: 'failed',
    })
    expect(await intentOf(intentId)).toMatchObject({
      error: { code: 'SWAP_FAILED', message: 'the pool moved' },
    })
  })

  test('fails the intent with a simulated failure, and with no other one', async () => {
    const metadata = JSON.stringify({ simulate: 'NETWORK_ERROR' })
    const intentId = await insertTestIntent(database.db, wallet, 'executing', { metadata })
    expect(await run(activities.finalizeIntent, { intentId, failure })).toEqual({
      status: 'executing',
    })
    const asked = { ...failure, code: 'NETWORK_ERROR' }
    expect(await run(activities.finalizeIntent, { intentId, failure: asked })).toMatchObject({
      status: 'failed',
    })
  })

  test('accepts a planning timeout of the server, and no forged one', async () => {
    const intentId = await insertTestIntent(database.db, wallet, 'pending')
    const silent = { code: 'RPC_ERROR', message: 'no answer' }
    expect(await run(activities.finalizeIntent, { intentId, failure: silent })).toEqual({
      status: 'pending',
    })
    const timedOut = { ...silent, timedOut: true as const }
    expect(await run(activities.finalizeIntent, { intentId, failure: timedOut })).toMatchObject({
      status: 'failed',
    })
  })
})

describe('a success that an operator forged', () => {
  const second = (step: Partial<DepositStep>): StepInput<PlanStep> => ({
    ...{ intentId: '', accountId: wallet.accountId, walletId: wallet.id, deadlineMs: Infinity },
    step: { type: 'deposit', sequence: 2, amount: '1', ...step } as DepositStep,
  })
  const spend = async (
    operation?: Record<string, unknown>,
    fedBy?: StepInput<PlanStep>['fedBy'],
  ) => {
    const intentId = await insertTestIntent(database.db, wallet, 'executing')
    if (operation) await insertTestOperation(database.db, wallet, intentId, operation)
    const input = { ...second({}), intentId, ...(fedBy && { fedBy }) }
    return assertFed(database, input).catch((error: unknown) => error)
  }
  const inBlock = {
    ...{ tx_hash: '0x01', block_number: 5, block_hash: '0x02', log_index: 0 },
    ...{ gas_used: '1', gas_cost_usd: '0', success: true, units: '990000' },
  }
  const notDone = { type: 'NOT_DONE', nonRetryable: true }
  const mint = { sequence: 1, kind: 'mint' } as const

  test('of a step without a row, or with an unsigned one, stops the next step', async () => {
    for (const fedBy of [undefined, mint]) {
      expect(await spend(undefined, fedBy)).toMatchObject(notDone)
      const burned = { kind: 'bridge', state: 'confirmed', ...inBlock }
      expect(await spend(burned, fedBy)).toMatchObject(notDone)
      const retry_after = new Date()
      const deferred = { kind: 'mint', state: 'deferred', code: 'RPC_ERROR', retry_after }
      expect(await spend(deferred, fedBy)).toMatchObject(notDone)
    }
  })

  test('of a running step makes the next one wait', async () => {
    for (const state of ['queued', 'signed']) {
      expect(await spend({ kind: 'mint', state }, mint)).toMatchObject({ type: 'WAITING' })
    }
    expect(await spend({ kind: 'mint', state: 'confirmed', ...inBlock }, mint)).toBeUndefined()
    expect(await spend({ kind: 'mint', state: 'confirmed', ...inBlock })).toBeUndefined()
  })

  test('of a burn or an attestation fails the mint with NOT_DONE', async () => {
    const step = { type: 'bridge', sequence: 1, amount: '1', from: 'a', to: 'b' } as BridgeStep
    const intentId = await insertTestIntent(database.db, wallet, 'executing')
    const input = { ...second({}), intentId, step }
    expect(await run(activities.awaitAttestation, input)).toMatchObject(notDone)
    expect(await run(activities.mint, { ...input, nonce: '0x07' })).toMatchObject(notDone)
    expect(await operationsOf(intentId)).toEqual([])
  })

  test('of the planning spends the amount of the stored plan', async () => {
    const step = { type: 'deposit', sequence: 1, amount: '0.000001', chain: 'a' } as DepositStep
    const intentId = await insertTestIntent(database.db, wallet, 'executing')
    expect(await run(activities.deposit, { ...second({}), intentId, step })).toMatchObject({
      type: 'WAITING',
    })
    const ordered = await database.db('operation').where({ intent_id: intentId })
    expect(ordered).toMatchObject([{ input_units: '1000000' }])
  })

  test('of the planning submits no operation outside the stored plan', async () => {
    const step = { type: 'deposit', sequence: 1, amount: '9', chain: 'a' } as DepositStep
    const intentId = await insertTestIntent(database.db, wallet, 'pending')
    const forged = { ...second({}), intentId, step }
    expect(await run(activities.deposit, forged)).toMatchObject({ nonRetryable: true })
    expect(await operationsOf(intentId)).toEqual([])
    expect(await intentOf(intentId)).toMatchObject({ status: 'pending' })
  })
})
