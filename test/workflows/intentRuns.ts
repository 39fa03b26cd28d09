import { activityInfo } from '@temporalio/activity'
import { Worker } from '@temporalio/worker'
import { createTimeSkippingEnvironment } from '../support/temporal/temporal.js'
import { workflowBundle } from '../support/temporal/workflowBundle.js'
import { searchAttributeTypes } from '../../workflows/client/searchAttributes.js'
import type { ApplicationFailure, WorkflowFailedError, WorkflowHandle } from '@temporalio/client'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import type { Activities } from '../../activities/index.js'
import type { StepPlan } from '../../domain/intent/intent.js'
import type { Fault } from '../../domain/simulate.js'
import type { executeIntent } from '../../workflows/executeIntent.js'

/** The calls of the fake activities in order. `at`: server time of the call, Unix ms. */
export type Calls = { name: keyof Activities; input: unknown; at: number }[]
export type IntentHandle = WorkflowHandle<typeof executeIntent>
type FakeServerOptions = {
  plan?: StepPlan
  simulate?: Fault
  taskQueue?: string
}
/** Fake activities. They receive all calls so far, including their own. */
type Fakes = {
  [Name in keyof Activities]?: (
    input: Parameters<Activities[Name]>[0],
    calls: Calls,
  ) => ReturnType<Activities[Name]>
}
type FakeRun = { fakes: Fakes; calls: Calls }

/** The result of a successful step. */
export const done = { txHash: '0xabc', units: '1000000' }

const usual: Omit<Activities, 'planIntent'> = {
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

export type IntentRuns = Awaited<ReturnType<typeof startIntentRuns>>

/**
 * A time-skipping server and one worker for all workflows of a test file. A separate worker costs each test
 * half a second. An activity uses the fakes of the workflow that calls it.
 */
export async function startIntentRuns() {
  const environment = await createTimeSkippingEnvironment()
  // The test server cannot list workflows.
  await environment.connection.operatorService.addSearchAttributes({
    namespace: environment.client.options.namespace,
    searchAttributes: searchAttributeTypes,
  })
  const runs = new Map<string, FakeRun>()
  let count = 0
  const serve = (taskQueue: string) =>
    Worker.create({
      connection: environment.nativeConnection,
      workflowBundle: workflowBundle(),
      taskQueue,
      activities: dispatching(runs, environment),
    })
  const taskQueue = 'workflows'
  const worker = await serve(taskQueue)
  const running = worker.run()

  /** Starts the workflow of a new intent over fake activities. Other activities succeed. */
  async function start(fakes: Fakes, options: FakeServerOptions) {
    const { taskQueue: queue = taskQueue, ...input } = options
    const intentId = `intent_${++count}`
    const run = { fakes, calls: [] as Calls }
    runs.set(intentId, run)
    const handle = await environment.client.workflow.start<typeof executeIntent>('executeIntent', {
      taskQueue: queue,
      workflowId: intentId,
      args: [{ intentId, accountId: 'acct_1', walletId: 'svc_wallet_1', ...input }],
    })
    return { handle, calls: run.calls }
  }

  /** Runs the workflow of a new intent to its end. */
  async function run<Result>(
    fakes: Fakes,
    body: (handle: IntentHandle) => Promise<Result>,
    options: FakeServerOptions,
  ): Promise<{ result: Result; calls: Calls }> {
    const { handle, calls } = await start(fakes, options)
    return { result: await body(handle), calls }
  }

  return {
    ...{ environment, taskQueue, serve, start, run },
    /** Sets the fake activities of a workflow that is no intent. */
    fake: (workflowId: string, fakes: Fakes) => {
      const calls: Calls = []
      runs.set(workflowId, { fakes, calls })
      return calls
    },
    async stop() {
      worker.shutdown()
      await running
      await environment.teardown()
    },
  }
}

type Fake = (input: unknown, calls: Calls) => Promise<unknown>

function dispatching(runs: Map<string, FakeRun>, environment: TestWorkflowEnvironment) {
  const names = ['planIntent', ...Object.keys(usual)] as (keyof Activities)[]
  return Object.fromEntries(
    names.map((name) => [
      name,
      async (input: unknown) => {
        const run = runs.get(activityInfo().workflowExecution?.workflowId ?? '')
        const activity = { ...usual, ...run?.fakes }[name]
        if (!run || !activity) throw new Error(`Unexpected activity ${name}.`)
        // The clock stands still while an activity runs.
        const at = await environment.currentTimeMs()
        run.calls.push({ name, input, at })
        return (activity as Fake)(input, run.calls)
      },
    ]),
  )
}

export const namesOf = (calls: Calls) => calls.map(({ name }) => name)
export const inputOf = (calls: Calls, name: keyof Activities) =>
  calls.find((call) => call.name === name)?.input

export const resultOf = (handle: IntentHandle) => handle.result()

/** The failure with which a workflow ends. */
export const failureOf = (handle: IntentHandle) =>
  handle.result().then(
    () => {
      throw new Error('The workflow did not fail.')
    },
    (error: WorkflowFailedError) => error.cause as ApplicationFailure,
  )

/** The result of a workflow and its history. */
export async function historyOf(handle: IntentHandle) {
  await handle.result()
  return handle.fetchHistory()
}

/** An activity that blocks: `begun` resolves when it is called, and it returns after `open()`. */
export function createGate<Result>(result: Result) {
  let begin: (() => void) | undefined
  let end: ((result: Result) => void) | undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const ended = new Promise<Result>((resolve) => (end = resolve))
  return {
    begun,
    open: () => end?.(result),
    activity: () => {
      begin?.()
      return ended
    },
  }
}
