import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common'
import { SETTLED, type Unsettled } from '../../domain/intent/waitReason.js'
import {
  createGate,
  done,
  failureOf,
  historyOf,
  namesOf,
  resultOf,
  startIntentRuns,
  type Calls,
  type IntentRuns,
} from './intentRuns.js'
import { bridgedPlan, lendPlan } from './plans.js'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

let runs: IntentRuns

beforeAll(async () => {
  runs = await startIntentRuns()
})
afterAll(() => runs?.stop())

const waiting = (nextRetryDelay: number) =>
  ApplicationFailure.create({
    ...{ type: 'WAITING', message: 'not yet', nextRetryDelay },
    category: ApplicationFailureCategory.BENIGN,
  })
const noAnswer = (nextRetryDelay?: number) =>
  ApplicationFailure.create({
    ...{ type: 'RPC_ERROR', message: 'no answer' },
    ...(nextRetryDelay && { nextRetryDelay }),
  })

/** An activity that fails until the given server time has passed since its first call. */
const failingFor =
  <Result>(ms: number, failure: () => ApplicationFailure, result: Result) =>
  (_input: unknown, calls: Calls) => {
    const times = timesOf(calls, calls.at(-1)?.name)
    if ((times.at(-1) ?? 0) - (times[0] ?? 0) < ms) throw failure()
    return Promise.resolve(result)
  }

/** An activity that returns unsettled until the given server time has passed since its first call. */
const unsettledFor =
  <Result>(ms: number, result: Result, againMs?: number) =>
  (_input: unknown, calls: Calls) => {
    const times = timesOf(calls, calls.at(-1)?.name)
    const isOver = (times.at(-1) ?? 0) - (times[0] ?? 0) >= ms
    const unsettled: Unsettled = { settled: false, ...(againMs && { againMs }) }
    return Promise.resolve(isOver ? result : unsettled)
  }

const timesOf = (calls: Calls, wanted: string | undefined) =>
  calls.filter(({ name }) => name === wanted).map(({ at }) => at)
const gapsOf = (times: number[]) => times.slice(1).map((time, i) => time - (times[i] ?? 0))

describe('an intent that waits', () => {
  test('three weeks for an attestation without a signal mints and deposits, with a small history', async () => {
    const awaitAttestation = unsettledFor(21 * 24 * HOUR_MS, { nonce: '0x07' })
    const { result: history, calls } = await runs.run({ awaitAttestation }, historyOf, {
      plan: bridgedPlan,
    })
    const gaps = gapsOf(timesOf(calls, 'awaitAttestation')).map((ms) => Math.round(ms / HOUR_MS))
    expect(gaps.slice(0, 7)).toEqual([1, 2, 4, 8, 16, 24, 24])
    const rest = namesOf(calls).filter((name) => name !== 'awaitAttestation')
    expect(rest).toEqual(['bridge', 'mint', 'deposit', 'finalizeIntent'])
    expect(calls.find(({ name }) => name === 'mint')?.input).toMatchObject({ nonce: '0x07' })
    expect(history.events?.length).toBeLessThan(400)
  }, 180_000)

  test('calls its activity again after the returned pause', async () => {
    const deposit = unsettledFor(30 * MINUTE_MS, done, 10 * MINUTE_MS)
    const { calls } = await runs.run({ deposit }, resultOf, { plan: lendPlan })
    const gaps = gapsOf(timesOf(calls, 'deposit')).map((ms) => Math.round(ms / MINUTE_MS))
    expect(gaps).toEqual([10, 10, 10])
  })

  test('wakes by a signal that is early, late, repeated or during a call', async () => {
    const results = [{ settled: false as const }, { settled: false as const }, done]
    const deposit = () => Promise.resolve(results.shift() ?? done)
    const { result, calls } = await runs.run(
      { deposit },
      async (handle) => {
        // Signals before the first call, during it and during the wait. Only the last two count.
        while (results.length > 0) {
          await handle.signal(SETTLED)
          await handle.signal(SETTLED)
          await sleep(50)
        }
        return handle.result()
      },
      { plan: lendPlan },
    )
    expect(result).toEqual({ status: 'completed' })
    const times = timesOf(calls, 'deposit')
    expect(times).toHaveLength(3)
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(HOUR_MS)
  })

  test('does not wait when it is signalled during the call', async () => {
    const gate = createGate<Unsettled | typeof done>({ settled: false })
    let attempts = 0
    const deposit = () => (++attempts === 1 ? gate.activity() : Promise.resolve(done))
    const { calls } = await runs.run(
      { deposit },
      async (handle) => {
        await gate.begun
        await handle.signal(SETTLED)
        gate.open()
        return handle.result()
      },
      { plan: lendPlan },
    )
    const [gap = NaN, ...rest] = gapsOf(timesOf(calls, 'deposit'))
    expect(rest).toEqual([])
    expect(gap).toBeLessThan(HOUR_MS)
  })

  test.each(['bridge', 'mint', 'deposit'] as const)(
    'an hour for a node that is down at its %s: late, not failed',
    async (step) => {
      const fakes = { [step]: failingFor(HOUR_MS, noAnswer, done) }
      const { result, calls } = await runs.run(fakes, resultOf, { plan: bridgedPlan })
      expect(result).toEqual({ status: 'completed' })
      expect(timesOf(calls, step).length).toBeGreaterThan(50)
      expect(timesOf(calls, step).length).toBeLessThan(70)
      const others = ['bridge', 'awaitAttestation', 'mint', 'deposit', 'finalizeIntent']
      const rest = namesOf(calls).filter((name) => name !== step)
      expect(rest).toEqual(others.filter((name) => name !== step))
    },
  )

  test('completes after every kind of retryable failure', async () => {
    const failures = [
      () => new Error('a bug'),
      () => waiting(SECOND_MS),
      () => noAnswer(),
      () => ApplicationFailure.create({ type: 'DEPOSIT_FAILED', message: 'not final' }),
      () => ApplicationFailure.create({ type: 'CANCELLED', message: 'not final' }),
    ]
    const deposit = () => {
      const next = failures.shift()
      if (next) throw next()
      return Promise.resolve(done)
    }
    const { result, calls } = await runs.run({ deposit }, resultOf, { plan: lendPlan })
    expect(result).toEqual({ status: 'completed' })
    expect(timesOf(calls, 'deposit')).toHaveLength(6)
  })

  test('error: RPC_ERROR when no chain answers the planning for a day', async () => {
    const planIntent = () => Promise.reject(noAnswer(HOUR_MS / 2))
    const { result, calls } = await runs.run({ planIntent }, failureOf, {})
    expect(result).toMatchObject({ type: 'RPC_ERROR' })
    expect(calls.at(-1)).toMatchObject({ input: { failure: { code: 'RPC_ERROR' } } })
    expect(namesOf(calls)).not.toContain('deposit')
    const times = timesOf(calls, 'planIntent')
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(23 * HOUR_MS)
  })
})

describe('retries of a step', () => {
  test('pause for 1 s, doubled each time, at most a minute', async () => {
    const deposit = failingFor(HOUR_MS, noAnswer, done)
    const { calls } = await runs.run({ deposit }, resultOf, { plan: lendPlan })
    const times = timesOf(calls, 'deposit')
    // Six doublings take 63 s, then one attempt per minute.
    expect(times.length).toBeLessThanOrEqual(67)
    gapsOf(times).forEach((gap, i) => {
      const interval = Math.min(SECOND_MS * 2 ** i, MINUTE_MS)
      expect(gap).toBeGreaterThanOrEqual(interval)
      expect(gap).toBeLessThan(interval + MINUTE_MS)
    })
  })

  test('pause for the delay of the failure, also when it is shorter', async () => {
    const delays = [30 * SECOND_MS, 5 * SECOND_MS, 15 * MINUTE_MS, 2 * HOUR_MS, 10 * SECOND_MS]
    const left = [...delays]
    const deposit = () => {
      const delay = left.shift()
      if (delay !== undefined) throw waiting(delay)
      return Promise.resolve(done)
    }
    const { calls } = await runs.run({ deposit }, resultOf, { plan: lendPlan })
    const gaps = gapsOf(timesOf(calls, 'deposit'))
    expect(gaps).toHaveLength(delays.length)
    gaps.forEach((gap, i) => {
      expect(gap).toBeGreaterThanOrEqual(delays[i] ?? NaN)
      expect(gap).toBeLessThan((delays[i] ?? NaN) + MINUTE_MS)
    })
  })

  test('repeat the finalization until it succeeds, and repeat no step', async () => {
    let attempts = 0
    const finalizeIntent = () => {
      if (++attempts < 30) throw new Error('Postgres is away')
      return Promise.resolve({ status: 'completed' as const })
    }
    const { result, calls } = await runs.run({ finalizeIntent }, resultOf, { plan: lendPlan })
    expect(result).toEqual({ status: 'completed' })
    expect(timesOf(calls, 'deposit')).toHaveLength(1)
    expect(attempts).toBe(30)
  })
})
