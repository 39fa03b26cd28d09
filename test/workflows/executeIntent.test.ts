import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApplicationFailure } from '@temporalio/client'
import { Worker } from '@temporalio/worker'
import { workflowBundle } from '../support/temporal/workflowBundle.js'
import {
  createGate,
  done,
  failureOf,
  historyOf,
  inputOf,
  namesOf,
  resultOf,
  startIntentRuns,
  type IntentRuns,
} from './intentRuns.js'
import { bridgedPlan, lendPlan as plan } from './plans.js'
import type { Progress } from '../../domain/intent/intent.js'
import type { fundWallet } from '../../workflows/fundWallet.js'
import type { snapshotYields } from '../../workflows/snapshotYields.js'

const HOUR_MS = 3_600_000

let runs: IntentRuns

beforeAll(async () => {
  runs = await startIntentRuns()
})
afterAll(() => runs?.stop())

describe('executeIntent', () => {
  test('executes the steps of its plan in order, then finalizes the intent', async () => {
    const { result, calls } = await runs.run({}, resultOf, { plan })
    expect(result).toEqual({ status: 'completed' })
    expect(namesOf(calls)).toEqual(['deposit', 'finalizeIntent'])
    expect(calls[0]?.input).toMatchObject({ walletId: 'svc_wallet_1', step: plan.steps[0] })
    expect(calls[1]?.input).toEqual({ intentId: expect.stringMatching(/^intent_/) })
  })

  test('ends after a last step that completed the intent, without more events in the history', async () => {
    const deposit = () => Promise.resolve({ ...done, isCompleted: true as const })
    const { result: history, calls } = await runs.run({ deposit }, historyOf, { plan })
    expect(namesOf(calls)).toEqual(['deposit'])
    expect(calls[0]?.input).toMatchObject({ isLast: true })
    const events = history.events ?? []
    expect(events.some((event) => event.markerRecordedEventAttributes)).toBe(false)
    expect(events.at(-1)).toHaveProperty('workflowExecutionCompletedEventAttributes')
  })

  test('finalizes the intent when an earlier step claims its completion, or the result is malformed', async () => {
    const bridge = () => Promise.resolve({ ...done, isCompleted: true as const })
    const mint = () => Promise.resolve({ ...done, isCompleted: true as const })
    const deposit = () => Promise.resolve({ ...done, isCompleted: 'yes' } as never)
    const { calls } = await runs.run({ bridge, mint, deposit }, resultOf, { plan: bridgedPlan })
    expect(namesOf(calls).slice(-2)).toEqual(['deposit', 'finalizeIntent'])
    expect(inputOf(calls, 'mint')).not.toHaveProperty('isLast')
  })

  test('plans first when the intent has no stored plan', async () => {
    const planIntent = () => Promise.resolve(plan)
    const { result, calls } = await runs.run({ planIntent }, resultOf, {})
    expect(result).toEqual({ status: 'completed' })
    expect(namesOf(calls)).toEqual(['planIntent', 'deposit', 'finalizeIntent'])
  })

  test('error: a final failure of a step ends the intent with its code and step', async () => {
    const over = { type: 'DEPOSIT_FAILED', message: 'refused', nonRetryable: true }
    const deposit = () => Promise.reject(ApplicationFailure.create(over))
    const { result, calls } = await runs.run({ deposit }, failureOf, { plan })
    expect(result).toMatchObject({ type: 'DEPOSIT_FAILED', message: 'refused' })
    const failure = { code: 'DEPOSIT_FAILED', message: 'refused', step: 1 }
    expect(calls.at(-1)).toMatchObject({ name: 'finalizeIntent', input: { failure } })
  })

  test('limits the stack of its failure', async () => {
    const over = { type: 'DEPOSIT_FAILED', message: 'refused', nonRetryable: true }
    const deposit = () => Promise.reject(ApplicationFailure.create(over))
    const { result } = await runs.run({ deposit }, failureOf, { plan })
    const places = (result.stack ?? '').split('\n').filter((line) => /^ +at /.test(line))
    expect(places.join()).toContain('workflows/executeIntent.ts')
    expect(places.length).toBeLessThanOrEqual(3)
  })

  test('error: NOT_DONE when the rows support no final status', async () => {
    const finalizeIntent = () => Promise.resolve({ status: 'executing' as const })
    const { result, calls } = await runs.run({ finalizeIntent }, failureOf, { plan })
    expect(result).toMatchObject({ type: 'NOT_DONE' })
    expect(namesOf(calls)).toEqual(['deposit', 'finalizeIntent'])
  })

  test('completes when a failed step has succeeded since', async () => {
    const over = { type: 'DEPOSIT_FAILED', message: 'refused', nonRetryable: true }
    const deposit = () => Promise.reject(ApplicationFailure.create(over))
    const finalizeIntent = () => Promise.resolve({ status: 'completed' as const })
    const { result } = await runs.run({ deposit, finalizeIntent }, resultOf, { plan })
    expect(result).toEqual({ status: 'completed' })
  })

  test.each([
    ['before its first step', { plan }, ['deposit', 'finalizeIntent']],
    ['before it has a plan', {}, ['planIntent', 'finalizeIntent']],
  ])('ends without a failure when the intent was cancelled %s', async (_when, options, names) => {
    const over = { type: 'CANCELLED', message: 'The intent is over.', nonRetryable: true }
    const cancelled = () => Promise.reject(ApplicationFailure.create(over))
    const fakes = { deposit: cancelled, planIntent: cancelled }
    const { result, calls } = await runs.run(fakes, resultOf, options)
    expect(result).toEqual({ status: 'failed' })
    expect(namesOf(calls)).toEqual(names)
  })

  test('sets the deadline of a step to a day after its start', async () => {
    const before = await runs.environment.currentTimeMs()
    const { calls } = await runs.run({}, resultOf, { plan })
    const { deadlineMs } = inputOf(calls, 'deposit') as { deadlineMs: number }
    const after = await runs.environment.currentTimeMs()
    expect(deadlineMs).toBeGreaterThanOrEqual(before + 24 * HOUR_MS)
    expect(deadlineMs).toBeLessThanOrEqual(after + 24 * HOUR_MS)
  })

  test('ignores a cancellation by Temporal during a step', async () => {
    const gate = createGate(done)
    const { result } = await runs.run(
      { deposit: gate.activity },
      async (handle) => {
        await gate.begun
        await handle.cancel()
        gate.open()
        return handle.result()
      },
      { plan },
    )
    expect(result).toEqual({ status: 'completed' })
  })

  test('answers the progress query while it runs', async () => {
    const gate = createGate(done)
    const { result } = await runs.run(
      { deposit: gate.activity },
      async (handle) => {
        await gate.begun
        const during = await handle.query<Progress>('progress')
        gate.open()
        await handle.result()
        return during
      },
      { plan },
    )
    expect(result).toEqual({
      status: 'executing',
      completedSteps: 0,
      currentStep: 1,
    })
  })

  test('replays its history on the same code, and rejects a foreign history', async () => {
    let calls = 0
    const unsettled = { settled: false as const, againMs: 1_000 }
    const awaitAttestation = () => Promise.resolve(++calls < 3 ? unsettled : { nonce: '0x07' })
    const fakes = { awaitAttestation, planIntent: () => Promise.resolve(bridgedPlan) }
    const { result: history } = await runs.run(fakes, historyOf, {})
    const replay = (one: typeof history) =>
      Worker.runReplayHistory({ workflowBundle: workflowBundle() }, one)
    await expect(replay(history)).resolves.toBeUndefined()
    for (const { activityTaskScheduledEventAttributes: scheduled } of history.events ?? []) {
      if (scheduled?.activityType?.name === 'deposit') scheduled.activityType.name = 'pay'
    }
    await expect(replay(history)).rejects.toThrow()
  })
})

describe('fundWallet', () => {
  test('funds once and returns the transaction hash', async () => {
    const calls = runs.fake('fund_1', {})
    const result = await runs.environment.client.workflow.execute<typeof fundWallet>('fundWallet', {
      taskQueue: runs.taskQueue,
      workflowId: 'fund_1',
      args: [{ fundingId: 'fund_1' }],
    })
    expect(result).toEqual({ txHash: '0xabc' })
    expect(namesOf(calls)).toEqual(['fund'])
    expect(calls[0]?.input).toEqual({ fundingId: 'fund_1', deadlineMs: expect.any(Number) })
  })
})

describe('snapshotYields', () => {
  test('records under the same time in each attempt', async () => {
    const moments: string[] = []
    runs.fake('snapshot', {
      recordYields({ takenAt }) {
        moments.push(takenAt)
        if (moments.length < 3) throw new Error('no answer')
        return Promise.resolve({ recorded: 3, unavailable: [] })
      },
    })
    const { workflow } = runs.environment.client
    const result = await workflow.execute<typeof snapshotYields>('snapshotYields', {
      taskQueue: runs.taskQueue,
      workflowId: 'snapshot',
    })
    expect(result).toEqual({ recorded: 3, unavailable: [] })
    expect(moments).toHaveLength(3)
    expect(new Set(moments).size).toBe(1)
  })
})
