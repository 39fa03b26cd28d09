import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApplicationFailure } from '@temporalio/common'
import {
  createGate,
  done,
  failureOf,
  historyOf,
  inputOf,
  namesOf,
  resultOf,
  startIntentRuns,
  type IntentHandle,
  type IntentRuns,
} from './intentRuns.js'
import { bridgedPlan, bridgedSwapPlan, withdrawPlan } from './plans.js'
import type { Progress } from '../../domain/intent/intent.js'

let runs: IntentRuns

beforeAll(async () => {
  runs = await startIntentRuns()
})
afterAll(() => runs?.stop())

const plan = bridgedPlan
const planIntent = () => Promise.resolve(plan)
const whole = ['bridge', 'awaitAttestation', 'mint', 'deposit', 'finalizeIntent']

const over = (type: string) => () =>
  Promise.reject(ApplicationFailure.create({ type, message: 'over', nonRetryable: true }))
const cancelled = over('CANCELLED')

const attested = { nonce: '0x07' }
const points = [
  ['planning', 'planIntent', plan],
  ['burn', 'bridge', done],
  ['attestation', 'awaitAttestation', attested],
  ['mint', 'mint', done],
  ['deposit', 'deposit', done],
] as const

describe('a bridged plan', () => {
  test('burns, waits for the attestation, mints by its nonce, and deposits the minted amount', async () => {
    const awaitAttestation = () => Promise.resolve(attested)
    const { result, calls } = await runs.run({ awaitAttestation }, resultOf, { plan })
    expect(result).toEqual({ status: 'completed' })
    expect(namesOf(calls)).toEqual(whole)
    const [burn, pay] = plan.steps
    expect(inputOf(calls, 'bridge')).toMatchObject({ step: burn })
    expect(inputOf(calls, 'awaitAttestation')).toMatchObject({ step: burn })
    expect(inputOf(calls, 'mint')).toMatchObject({ step: burn, nonce: '0x07' })
    const fedBy = { sequence: 1, kind: 'mint' }
    expect(inputOf(calls, 'deposit')).toMatchObject({ step: pay, fedBy })
    for (const name of ['bridge', 'awaitAttestation', 'mint'] as const) {
      expect(inputOf(calls, name)).not.toHaveProperty('fedBy')
    }
  })

  test('is planned first when the intent has no stored plan', async () => {
    const { result, calls } = await runs.run({ planIntent }, resultOf, {})
    expect(result).toEqual({ status: 'completed' })
    expect(namesOf(calls)).toEqual(['planIntent', ...whole])
  })

  test('a swap between mint and deposit spends what was minted and feeds the deposit', async () => {
    const { calls } = await runs.run({}, resultOf, { plan: bridgedSwapPlan })
    const names = ['bridge', 'awaitAttestation', 'mint', 'swap', 'deposit', 'finalizeIntent']
    expect(namesOf(calls)).toEqual(names)
    expect(inputOf(calls, 'swap')).toMatchObject({ fedBy: { sequence: 1, kind: 'mint' } })
    expect(inputOf(calls, 'deposit')).toMatchObject({ fedBy: { sequence: 2, kind: 'swap' } })
  })

  test('marks only its last step as the last', async () => {
    const { calls } = await runs.run({}, resultOf, { plan: bridgedSwapPlan })
    const last = calls.filter(({ input }) => Object.hasOwn(input as object, 'isLast'))
    expect(namesOf(last)).toEqual(['deposit'])
  })

  test('a swap after a withdrawal spends what was withdrawn', async () => {
    const { calls } = await runs.run({}, resultOf, { plan: withdrawPlan })
    expect(namesOf(calls)).toEqual(['withdraw', 'swap', 'finalizeIntent'])
    expect(inputOf(calls, 'withdraw')).not.toHaveProperty('fedBy')
    expect(inputOf(calls, 'swap')).toMatchObject({ fedBy: { sequence: 1, kind: 'withdraw' } })
  })

  test('passes a simulated failure to every step', async () => {
    const simulate = 'BRIDGE_TIMEOUT' as const
    const asked = await runs.run({}, resultOf, { plan: bridgedSwapPlan, simulate })
    const usual = await runs.run({}, resultOf, { plan: bridgedSwapPlan })
    const steps = asked.calls.slice(0, -1)
    expect(steps).toHaveLength(5)
    for (const { input } of steps) expect(input).toMatchObject({ simulate })
    for (const { input } of usual.calls) expect(input).not.toHaveProperty('simulate')
  })

  test('answers the progress query at each step', async () => {
    const gates = points.map(([, name, result]) => ({ name, ...createGate<unknown>(result) }))
    const fakes = Object.fromEntries(gates.map(({ name, activity }) => [name, activity]))
    const { result } = await runs.run(
      fakes,
      async (handle) => {
        const seen: Progress[] = []
        for (const { begun, open } of gates) {
          await begun
          seen.push(await handle.query<Progress>('progress'))
          open()
        }
        await handle.result()
        return [...seen, await handle.query<Progress>('progress')]
      },
      {},
    )
    expect(result).toEqual([
      { status: 'pending', completedSteps: 0 },
      { status: 'executing', completedSteps: 0, currentStep: 1 },
      { status: 'executing', completedSteps: 0, currentStep: 1 },
      { status: 'executing', completedSteps: 0, currentStep: 1 },
      { status: 'executing', completedSteps: 1, currentStep: 2 },
      { status: 'completed', completedSteps: 2 },
    ])
  })
})

describe('a bridged plan that fails', () => {
  test('error: BRIDGE_FAILED when the burn fails, without a wait or a mint', async () => {
    const fakes = { bridge: over('BRIDGE_FAILED') }
    const { result, calls } = await runs.run(fakes, failureOf, { plan })
    expect(result).toMatchObject({ type: 'BRIDGE_FAILED' })
    expect(namesOf(calls)).toEqual(['bridge', 'finalizeIntent'])
    const failure = { code: 'BRIDGE_FAILED', message: 'over', step: 1 }
    expect(calls.at(-1)?.input).toMatchObject({ failure })
  })

  test('error: BRIDGE_FAILED when a reorg changed the burn to failed, without a mint', async () => {
    const fakes = { awaitAttestation: over('BRIDGE_FAILED') }
    const { result, calls } = await runs.run(fakes, failureOf, { plan })
    expect(result).toMatchObject({ type: 'BRIDGE_FAILED' })
    expect(namesOf(calls)).toEqual(['bridge', 'awaitAttestation', 'finalizeIntent'])
  })

  test('error: DEPOSIT_FAILED after the mint names the step of the deposit', async () => {
    const fakes = { deposit: over('DEPOSIT_FAILED') }
    const { result, calls } = await runs.run(fakes, failureOf, { plan })
    expect(result).toMatchObject({ type: 'DEPOSIT_FAILED' })
    expect(calls.at(-1)?.input).toMatchObject({ failure: { code: 'DEPOSIT_FAILED', step: 2 } })
  })

  test('marked as failed while its money is in the bridge: mints, then ends as failed', async () => {
    let attempts = 0
    const late = { settled: false as const, againMs: 3 * 86_400_000 }
    const awaitAttestation = () => Promise.resolve(++attempts === 1 ? late : attested)
    const fakes = { awaitAttestation, deposit: cancelled }
    const { result, calls } = await runs.run(fakes, resultOf, { plan })
    expect(result).toEqual({ status: 'failed' })
    const twice = ['bridge', 'awaitAttestation', ...whole.slice(1)]
    expect(namesOf(calls)).toEqual(twice)
    expect(calls.at(-1)?.input).toMatchObject({ failure: { code: 'CANCELLED', step: 2 } })
  })
})

describe('a cancellation by the user', () => {
  test.each([
    ['before it has a plan', { planIntent: cancelled }, []],
    ['before its burn', { planIntent, bridge: cancelled }, ['bridge']],
    [
      'after its burn: what was burned is minted, nothing is swapped or deposited',
      { planIntent: () => Promise.resolve(bridgedSwapPlan), swap: cancelled },
      ['bridge', 'awaitAttestation', 'mint', 'swap'],
    ],
    [
      'before its deposit',
      { planIntent, deposit: cancelled },
      ['bridge', 'awaitAttestation', 'mint', 'deposit'],
    ],
  ])('ends a bridged plan %s', async (_when, fakes, names) => {
    const { result, calls } = await runs.run(fakes, resultOf, {})
    expect(result).toEqual({ status: 'failed' })
    expect(namesOf(calls)).toEqual(['planIntent', ...names, 'finalizeIntent'])
    expect(calls.at(-1)?.input).toMatchObject({ failure: { code: 'CANCELLED' } })
  })
})

describe('a cancellation from outside', () => {
  test.each(points)('during the %s of a bridged plan stops nothing', async (_point, name, end) => {
    const gate = createGate<unknown>(end)
    const { result: history, calls } = await runs.run(
      { planIntent, [name]: gate.activity },
      async (handle) => {
        await gate.begun
        await cancelAndWait(handle)
        gate.open()
        expect(await handle.result()).toEqual({ status: 'completed' })
        return historyOf(handle)
      },
      {},
    )
    expect(namesOf(calls)).toEqual(['planIntent', ...whole])
    expect(history.events?.some((event) => event.activityTaskCancelRequestedEventAttributes)).toBe(
      false,
    )
  })

  test('before its first step has no effect', async () => {
    const taskQueue = 'not served yet'
    const { handle, calls } = await runs.start({ planIntent }, { taskQueue })
    await handle.cancel()
    const worker = await runs.serve(taskQueue)
    expect(await worker.runUntil(handle.result())).toEqual({ status: 'completed' })
    expect(namesOf(calls)).toEqual(['planIntent', ...whole])
  })
})

/** Resolves when the workflow has processed its cancellation. */
async function cancelAndWait(handle: IntentHandle): Promise<void> {
  await handle.cancel()
  for (;;) {
    const { events } = await handle.fetchHistory()
    const at = events?.findIndex((event) => event.workflowExecutionCancelRequestedEventAttributes)
    const since = at === undefined || at < 0 ? [] : (events?.slice(at) ?? [])
    if (since.some((event) => event.workflowTaskCompletedEventAttributes)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
