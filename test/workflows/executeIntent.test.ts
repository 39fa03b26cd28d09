import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ApplicationFailure, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client'
import { Worker } from '@temporalio/worker'
import { createTimeSkippingEnvironment } from '../support/temporal.js'
import { workflowBundle } from '../support/workflowBundle.js'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { Activities } from '../../activities/index.js'
import type { ExecutionPlan, Progress } from '../../domain/intent.js'
import type { executeIntent } from '../../workflows/executeIntent.js'
import type { fundWallet } from '../../workflows/fundWallet.js'
import type { snapshotYields } from '../../workflows/snapshotYields.js'

const HOUR_MS = 3_600_000
const taskQueue = 'workflows'

const plan: ExecutionPlan = {
  strategy: 'direct-deposit',
  targetChain: 'arbitrum-sepolia',
  targetProtocol: 'aave-v3',
  expectedApy: 3.5,
  steps: [
    {
      type: 'deposit',
      sequence: 1,
      chain: 'arbitrum-sepolia',
      protocol: 'aave-v3',
      market: '0x0000000000000000000000000000000000000001',
      asset: 'USDC',
      amount: '1',
    },
  ],
  estimatedGasUsd: 0.5,
  estimatedTime: '1-5 seconds',
  reasoning: 'aave-v3 on arbitrum-sepolia pays 3.50 % on USDC.',
}

let environment: TestWorkflowEnvironment
let count = 0

beforeAll(async () => {
  environment = await createTimeSkippingEnvironment()
})
afterAll(() => environment?.teardown())

/** What the fake activities were called with, in their order. */
type Calls = { name: keyof Activities; input: unknown }[]

const done = { txHash: '0xabc', units: '1000000' }

/** Runs the workflow of a new intent over fake activities; what is not given succeeds. */
async function run<Result>(
  fakes: Partial<Activities>,
  body: (handle: WorkflowHandle<typeof executeIntent>) => Promise<Result>,
  options: { plan?: ExecutionPlan } = { plan },
): Promise<{ result: Result; calls: Calls }> {
  const calls: Calls = []
  const usual: Activities = {
    planIntent: () => Promise.resolve(plan),
    deposit: () => Promise.resolve(done),
    withdraw: () => Promise.resolve(done),
    swap: () => Promise.resolve(done),
    bridge: () => Promise.resolve(done),
    awaitAttestation: () => Promise.resolve({ nonce: '0x01' }),
    mint: () => Promise.resolve(done),
    fund: () => Promise.resolve(done),
    recordYields: () => Promise.resolve({ recorded: 3, unavailable: [] }),
    finalizeIntent: ({ failure }) =>
      Promise.resolve({ status: failure ? ('failed' as const) : ('completed' as const) }),
  }
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    workflowBundle: workflowBundle(),
    taskQueue,
    activities: recording({ ...usual, ...fakes }, calls),
  })
  const result = await worker.runUntil(async () => {
    const intentId = `intent_${++count}`
    const handle = await environment.client.workflow.start<typeof executeIntent>('executeIntent', {
      taskQueue,
      workflowId: intentId,
      args: [{ intentId, accountId: 'acct_1', walletId: 'svc_wallet_1', ...options }],
    })
    return body(handle)
  })
  return { result, calls }
}

function recording(activities: Activities, calls: Calls) {
  return Object.fromEntries(
    Object.entries(activities).map(([name, activity]) => [
      name,
      (input: unknown) => {
        calls.push({ name: name as keyof Activities, input })
        return (activity as (given: unknown) => Promise<unknown>)(input)
      },
    ]),
  )
}

const resultOf = (handle: WorkflowHandle<typeof executeIntent>) => handle.result()
const failureOf = (handle: WorkflowHandle<typeof executeIntent>) =>
  handle.result().then(
    () => {
      throw new Error('The workflow did not fail.')
    },
    (error: WorkflowFailedError) => error.cause as ApplicationFailure,
  )

describe('executeIntent', () => {
  test('executes the steps of its plan in order, then writes the end', async () => {
    const { result, calls } = await run({}, resultOf)
    expect(result).toEqual({ status: 'completed' })
    expect(calls.map(({ name }) => name)).toEqual(['deposit', 'finalizeIntent'])
    expect(calls[0]?.input).toMatchObject({ walletId: 'svc_wallet_1', step: plan.steps[0] })
    expect(calls[1]?.input).toEqual({ intentId: expect.stringMatching(/^intent_/) })
  })

  test('plans first when the intent was stored without a plan', async () => {
    const { result, calls } = await run({}, resultOf, {})
    expect(result).toEqual({ status: 'completed' })
    expect(calls.map(({ name }) => name)).toEqual(['planIntent', 'deposit', 'finalizeIntent'])
  })

  test('a node that is down for six hours makes the intent late, not failed', async () => {
    const upAgain = (await environment.currentTimeMs()) + 6 * HOUR_MS
    const { result, calls } = await run(
      {
        async deposit() {
          if ((await environment.currentTimeMs()) > upAgain) return done
          throw ApplicationFailure.create({ type: 'RPC_ERROR', message: 'no answer' })
        },
      },
      resultOf,
    )
    expect(result).toEqual({ status: 'completed' })
    expect(calls.length).toBeGreaterThan(300)
    expect(calls.length).toBeLessThan(400)
  })

  test('a waiting step is retried after the delay that it names, without writing history', async () => {
    let attempts = 0
    const { result: history } = await run(
      {
        deposit() {
          if (++attempts > 200) return Promise.resolve(done)
          const nextRetryDelay = '15 minutes'
          throw ApplicationFailure.create({ type: 'WAITING', message: 'late', nextRetryDelay })
        },
      },
      async (handle) => {
        await handle.result()
        return handle.fetchHistory()
      },
    )
    expect(attempts).toBe(201)
    expect(history.events?.length).toBeLessThan(20)
  })

  test('error: a step that is over for good ends the intent with its code and step', async () => {
    const over = { type: 'DEPOSIT_FAILED', message: 'refused', nonRetryable: true }
    const { result, calls } = await run(
      { deposit: () => Promise.reject(ApplicationFailure.create(over)) },
      failureOf,
    )
    expect(result).toMatchObject({ type: 'DEPOSIT_FAILED', message: 'refused' })
    const failure = { code: 'DEPOSIT_FAILED', message: 'refused', step: 1 }
    expect(calls.at(-1)).toMatchObject({ name: 'finalizeIntent', input: { failure } })
  })

  test.each([
    ['before its first step', { plan }, ['deposit', 'finalizeIntent']],
    ['before it has a plan', {}, ['planIntent', 'finalizeIntent']],
  ])('an intent that was cancelled %s ends without a failure', async (_when, options, names) => {
    const over = { type: 'CANCELLED', message: 'The intent is over.', nonRetryable: true }
    const cancelled = () => Promise.reject(ApplicationFailure.create(over))
    const fakes = { deposit: cancelled, planIntent: cancelled }
    const { result, calls } = await run(fakes, resultOf, options)
    expect(result).toEqual({ status: 'failed' })
    expect(calls.map(({ name }) => name)).toEqual(names)
  })

  test('error: RPC_ERROR when no chain answers the planning for a day', async () => {
    const silent = { type: 'RPC_ERROR', message: 'no answer' }
    const { result, calls } = await run(
      { planIntent: () => Promise.reject(ApplicationFailure.create(silent)) },
      failureOf,
      {},
    )
    expect(result).toMatchObject({ type: 'RPC_ERROR' })
    expect(calls.at(-1)).toMatchObject({ input: { failure: { code: 'RPC_ERROR' } } })
    expect(calls.map(({ name }) => name)).not.toContain('deposit')
  })

  test('the deadline of a step is a day after its own start', async () => {
    const before = await environment.currentTimeMs()
    const { calls } = await run({}, resultOf)
    const { deadlineMs } = calls[0]?.input as { deadlineMs: number }
    const after = await environment.currentTimeMs()
    expect(deadlineMs).toBeGreaterThanOrEqual(before + 24 * HOUR_MS)
    expect(deadlineMs).toBeLessThanOrEqual(after + 24 * HOUR_MS)
  })

  test('a cancellation from outside does not stop a step that may be in flight', async () => {
    let release: (() => void) | undefined
    const { result } = await run(
      {
        deposit: () =>
          new Promise((resolve) => {
            release = () => {
              resolve(done)
            }
          }),
      },
      async (handle) => {
        while (!release) await new Promise((resolve) => setTimeout(resolve, 20))
        await handle.cancel()
        release()
        return handle.result()
      },
    )
    expect(result).toEqual({ status: 'completed' })
  })

  test('tells how far it is while it runs', async () => {
    let release: (() => void) | undefined
    const { result } = await run(
      {
        deposit: () =>
          new Promise((resolve) => {
            release = () => {
              resolve(done)
            }
          }),
      },
      async (handle) => {
        while (!release) await new Promise((resolve) => setTimeout(resolve, 20))
        const during = await handle.query<Progress>('progress')
        release()
        await handle.result()
        return during
      },
    )
    expect(result).toEqual({
      status: 'executing',
      completedSteps: 0,
      waitingFor: 'deposit 1 USDC in aave-v3 on arbitrum-sepolia',
    })
  })

  test('its history replays on the same code', async () => {
    const { result: history } = await run({}, async (handle) => {
      await handle.result()
      return handle.fetchHistory()
    })
    await expect(
      Worker.runReplayHistory({ workflowBundle: workflowBundle() }, history),
    ).resolves.toBeUndefined()
  })
})

describe('fundWallet', () => {
  test('funds once and returns the transaction', async () => {
    const calls: unknown[] = []
    const worker = await Worker.create({
      connection: environment.nativeConnection,
      workflowBundle: workflowBundle(),
      taskQueue,
      activities: {
        fund: (input: unknown) => {
          calls.push(input)
          return Promise.resolve(done)
        },
      },
    })
    const result = await worker.runUntil(
      environment.client.workflow.execute<typeof fundWallet>('fundWallet', {
        taskQueue,
        workflowId: 'fund_1',
        args: [{ fundingId: 'fund_1' }],
      }),
    )
    expect(result).toEqual({ txHash: '0xabc' })
    expect(calls).toEqual([{ fundingId: 'fund_1', deadlineMs: expect.any(Number) }])
  })
})

describe('snapshotYields', () => {
  test('records once, under one moment however often it is tried', async () => {
    const moments: string[] = []
    const worker = await Worker.create({
      connection: environment.nativeConnection,
      workflowBundle: workflowBundle(),
      taskQueue,
      activities: {
        recordYields: ({ takenAt }: { takenAt: string }) => {
          moments.push(takenAt)
          if (moments.length < 3) throw new Error('no answer')
          return Promise.resolve({ recorded: 3, unavailable: [] })
        },
      },
    })
    const result = await worker.runUntil(
      environment.client.workflow.execute<typeof snapshotYields>('snapshotYields', {
        taskQueue,
        workflowId: 'snapshot',
      }),
    )
    expect(result).toEqual({ recorded: 3, unavailable: [] })
    expect(moments).toHaveLength(3)
    expect(new Set(moments).size).toBe(1)
  })
})
