import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getEventListeners, once } from 'node:events'
import { ApplicationFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { waitInSlot } from '../../activities/slot.js'
import { runStep, type Tools } from '../../activities/step.js'
import { operationId } from '../../operations/operationId.js'
import { resumeWork, pauseWork } from '../../db/pauses.js'
import {
  insertTestIntent,
  insertTestOperation,
  insertTestWallet,
  type TestWallet,
} from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { outcomesByHand } from '../support/outcomes.js'
import type { WaitReason } from '../../domain/intent/waitReason.js'

const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database?.drop())

type DepositValues = { wallet?: TestWallet; deadlineMs?: number; shown?: WaitReason['code'] }

/** The failure of a deposit whose operation has the given values. */
async function failureOf(
  values: Record<string, unknown>,
  ageMs: number,
  { wallet: given, deadlineMs = Infinity, shown }: DepositValues = {},
) {
  const { db } = database
  const wallet = given ?? (await insertTestWallet(db))
  const intentId = await insertTestIntent(db, wallet, 'executing')
  const id = operationId(intentId, 1, 'deposit')
  const created_at = new Date(Date.now() - ageMs)
  await insertTestOperation(db, wallet, intentId, { id, created_at, ...values })
  const outcomes = outcomesByHand()
  // The worker is stopping, so that no wait takes its full time.
  const tools = { db, outcomes, stopping: AbortSignal.abort() } as unknown as Tools
  const order = {
    ...{ intentId, sequence: 1, kind: 'deposit' as const, chainId: 421_614 },
    ...{ accountId: wallet.accountId, walletId: wallet.id },
  }
  const step = () => runStep(tools, { order, deadlineMs, shown })
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })
  const failure = await environment.run(step).catch((error: unknown) => error)
  if (!(failure instanceof ApplicationFailure)) throw new Error('The step did not fail as it must.')
  return failure
}

const deferred = (retryAfterMs: number) => ({
  ...{ state: 'deferred', code: 'RPC_ERROR', message: 'no answer' },
  retry_after: new Date(Date.now() + retryAfterMs),
})

describe('a step stopped by a pause or freeze', () => {
  const order = { by: 'alice', why: 'a key may have leaked' }
  const frozen = async () => {
    const wallet = await insertTestWallet(database.db)
    const target = { scope: 'wallet', subject: wallet.id } as const
    await pauseWork(database.db, target, order)
    return { wallet, target }
  }

  test('does not expire during the stop, and its deadline moves by the stopped time', async () => {
    const { wallet, target } = await frozen()
    const yesterday = Date.now() - HOUR_MS
    const late = { wallet, deadlineMs: yesterday }
    expect(await failureOf({ state: 'queued' }, 25 * HOUR_MS, late)).toMatchObject({
      ...{ type: 'WAITING', nonRetryable: false },
    })
    await resumeWork(database.db, target, order)
    const since = new Date(Date.now() - 3 * HOUR_MS)
    await database.db('pause').where(target).update({ since })
    expect(await failureOf({ state: 'queued' }, 25 * HOUR_MS, late)).toMatchObject({
      ...{ type: 'WAITING', message: 'Waits for the signer.' },
    })
    const long = { wallet, deadlineMs: Date.now() - 4 * HOUR_MS }
    expect(await failureOf({ state: 'queued' }, 25 * HOUR_MS, long)).toMatchObject({
      ...{ type: 'NETWORK_ERROR', nonRetryable: true },
    })
  })

  test('does not expire while it waits for a daily limit', async () => {
    const waits = {
      ...deferred(10 * SECOND_MS),
      code: 'DAILY_LIMIT',
      message: 'no room until noon',
    }
    const given = { deadlineMs: Date.now() - HOUR_MS, shown: 'DAILY_LIMIT' } as const
    const failure = await failureOf(waits, 25 * HOUR_MS, given)
    expect(failure.type).toBe('WAITING')
    expect(failure.message).toBe('DAILY_LIMIT: no room until noon')
  })
})

describe('runStep', () => {
  test('retries a young deferred operation at its retry time', async () => {
    const failure = await failureOf(deferred(10 * SECOND_MS), 0)
    expect(failure).toMatchObject({ type: 'WAITING', nonRetryable: false })
    expect(failure.message).toBe('RPC_ERROR: no answer')
    expect(failure.nextRetryDelay).toBeGreaterThan(0)
    expect(failure.nextRetryDelay).toBeLessThanOrEqual(10 * SECOND_MS)
  })

  test('retries a deferred operation less often with age, at least every minute', async () => {
    const after = async (ageMs: number) =>
      Number(
        (await failureOf(deferred(SECOND_MS), ageMs, { shown: 'CHAIN_SILENT' })).nextRetryDelay,
      )
    expect(await after(60 * SECOND_MS)).toBeGreaterThanOrEqual(6 * SECOND_MS)
    expect(await after(6 * HOUR_MS)).toBe(60 * SECOND_MS)
  })

  test('fails retryably within a minute while the operation waits for its signature or block', async () => {
    const queued = await failureOf({ state: 'queued' }, 0)
    expect(queued).toMatchObject({ type: 'WAITING', nonRetryable: false })
    expect(queued.message).toBe('Waits for the signer.')
    const signed = await failureOf({ state: 'signed' }, 6 * HOUR_MS)
    expect(signed).toMatchObject({ nonRetryable: false, nextRetryDelay: 60 * SECOND_MS })
    expect(signed.message).toBe('Signed and sent. Waits for its inclusion in a block.')
  })

  test.each([
    ['of which no transaction can be sent', { state: 'signed', message: 'why' }],
    ['whose log is looked up', { state: 'queued', spent_since: 1, message: 'why' }],
  ])('returns the wait reason of an operation %s', async (_what, values) => {
    expect(await failureOf(values, 0)).toMatchObject({ message: 'why', nonRetryable: false })
  })

  test('returns why a signed operation cannot be mined', async () => {
    const message = 'Gas on arbitrum-sepolia costs more than the cap allows.'
    const stuck = await failureOf({ state: 'signed', message }, HOUR_MS)
    expect(stuck).toMatchObject({ type: 'WAITING', nonRetryable: false, message })
  })

  test('error: the code of a rejected operation ends the step', async () => {
    const refusal = { state: 'rejected', code: 'DEPOSIT_FAILED', message: 'refused' }
    const failure = await failureOf(refusal, 0)
    expect(failure).toMatchObject({ type: 'DEPOSIT_FAILED', nonRetryable: true })
  })
})

describe('waitInSlot', () => {
  const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

  test('ends the wait when the worker stops', async () => {
    const stopping = new AbortController()
    const wait = (signal: AbortSignal) => {
      setTimeout(() => stopping.abort())
      return once(signal, 'abort')
    }
    await new MockActivityEnvironment().run(() => waitInSlot({ stopping: stopping.signal }, wait))
    expect(listeners(stopping.signal)).toBe(0)
  })

  test('leaves no listener at the stop signal after the wait', async () => {
    const stopping = new AbortController().signal
    const during = () => Promise.resolve(listeners(stopping))
    expect(await new MockActivityEnvironment().run(() => waitInSlot({ stopping }, during))).toBe(1)
    expect(listeners(stopping)).toBe(0)
  })
})
