import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { ApplicationFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { attemptMs, parkedPause } from '../../activities/parking.js'
import { runStep, type Tools } from '../../activities/step.js'
import { resumeWork, stopWork } from '../../db/lanes/stops.js'
import { operationId } from '../../lanes/operationId.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import type { Outcomes, ParkedStep } from '../../lanes/watching.js'

const [SECOND_MS, HOUR_MS] = [1_000, 3_600_000]

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())

const nextChange: Outcomes['nextChange'] = (_id, signal) =>
  once(signal, 'abort').then(() => undefined)

/** Runs a deposit that was ordered an hour ago. `meanwhile` happens between its last look and its parking. */
async function deposit(wallet: TestWallet, meanwhile: (id: string) => Promise<unknown>) {
  const { db } = database
  const intentId = await insertTestIntent(db, wallet, 'executing')
  const id = operationId(intentId, 1, 'deposit')
  await insertTestOperation(db, wallet, intentId, {
    ...{ id, created_at: new Date(Date.now() - HOUR_MS) },
  })
  const parked: [id: string, step: ParkedStep][] = []
  const park = async (operation: string, step: ParkedStep) => {
    parked.push([operation, step])
    await meanwhile(id)
  }
  const stopping = new AbortController().signal
  const tools = { db, outcomes: { nextChange, park }, stopping } as unknown as Tools
  const order = {
    ...{ intentId, sequence: 1, kind: 'deposit' as const, chainId: 421_614 },
    ...{ accountId: wallet.accountId, walletId: wallet.id, input: { units: '1000000' } },
  }
  const info = { activityType: 'deposit', workflowExecution: { workflowId: intentId, runId: '' } }
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') })
  const step = () => runStep(tools, { order, deadlineMs: Infinity })
  const failure = await environment.run(step).catch((error: unknown) => error)
  if (!(failure instanceof ApplicationFailure)) throw new Error('The step did not fail as it must.')
  return { failure, parked, id, intentId }
}

describe('a step that waits for long', () => {
  test('gives its slot back, is parked by its operation, and comes back by itself', async () => {
    const wallet = await insertTestWallet(database.db)
    const { failure, parked, id, intentId } = await deposit(wallet, () => Promise.resolve())
    expect(failure).toMatchObject({ type: 'WAITING', message: 'Waits for the signer.' })
    expect(failure.nextRetryDelay).toBe(HOUR_MS)
    expect(parked).toEqual([[id, { workflowId: intentId, activity: 'deposit' }]])
  })

  test('does not sleep over what has changed before it was parked', async () => {
    const wallet = await insertTestWallet(database.db)
    const refusal = { state: 'rejected', code: 'DEPOSIT_FAILED', message: 'refused' }
    const refuse = (id: string) => database.db('operation').where({ id }).update(refusal)
    const { failure } = await deposit(wallet, refuse)
    expect(failure).toMatchObject({ type: 'DEPOSIT_FAILED', nonRetryable: true })
  })

  test('that an operator has stopped is parked until it is let go on', async () => {
    const { db } = database
    const wallet = await insertTestWallet(db)
    const target = { scope: 'wallet', subject: wallet.id } as const
    const order = { by: 'alice', why: 'a test' }
    await stopWork(db, target, order)
    const stopped = await deposit(wallet, () => Promise.resolve())
    expect(stopped.failure.message).toMatch(/^The wallet is frozen since \S+Z by alice: a test$/)
    expect(stopped.failure.nextRetryDelay).toBe(HOUR_MS)
    // Let go on in that very moment, it waits for the signer as any other.
    let isOpen = true
    const resume = async () => {
      if (isOpen) await resumeWork(db, target, order)
      isOpen = false
    }
    const { failure, parked } = await deposit(wallet, resume)
    expect(failure.message).toBe('Waits for the signer.')
    expect(parked).toHaveLength(2)
  })
})

describe('parkedPause', () => {
  test('is an hour, and ends when there is something to do', () => {
    expect(parkedPause()).toBe(HOUR_MS)
    expect(parkedPause(2 * HOUR_MS)).toBe(HOUR_MS)
    expect(parkedPause(20 * SECOND_MS)).toBe(20 * SECOND_MS)
    expect(parkedPause(0)).toBe(SECOND_MS)
  })
})

describe('attemptMs', () => {
  test('is a good minute in all, then a few seconds', () => {
    expect(attemptMs(0)).toBe(65 * SECOND_MS)
    expect(attemptMs(20 * SECOND_MS)).toBe(45 * SECOND_MS)
    expect(attemptMs(HOUR_MS)).toBe(5 * SECOND_MS)
  })
})
