import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow'
import { executeStep, type IntentInput, type Surroundings } from './executeStep.js'
import { createUntilSettled } from './untilSettled.js'
import { createView } from './view.js'
import { isTerminal, type ExecutionPlan, type IntentStatus, type Step } from '../domain/intent.js'
import type { Activities } from '../activities/index.js'

/** `plan`: absent when no chain answered at creation: planned here then. */
export type ExecuteIntentInput = IntentInput & { plan?: ExecutionPlan }

const { planIntent } = proxyActivities<Activities>({
  startToCloseTimeout: '20s',
  // The only step that may end by a timeout: nothing of it can be in flight.
  scheduleToCloseTimeout: '24h',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '60s' },
})

const { finalizeIntent } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10s',
  // Longer pauses are timers. A task kept open for them would write three events each four seconds, and a
  // Postgres that is away for two days would end the workflow by the size of its history.
  localRetryThreshold: '3s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '1m' },
})

/** `timedOut`: the server gave up waiting, which nobody can forge. */
type Failure = { code: string; message: string; step?: number; timedOut?: true }
type Ended = { status: IntentStatus }

/**
 * Executes an intent: plan, step by step, end. The operations' rows say at every moment where its money is; a second
 * run finds what is done and continues there.
 */
export async function executeIntent(input: ExecuteIntentInput): Promise<Ended> {
  const view = createView(input.plan)
  const untilSettled = createUntilSettled(view.wait)
  // Whether an intent may be cancelled is decided in the database, not by a click in the Temporal UI.
  return CancellationScope.nonCancellable(() => run(input, { view, untilSettled }))
}

async function run(input: ExecuteIntentInput, around: Surroundings): Promise<Ended> {
  let step: Step | undefined
  let isCompleted = false
  try {
    const plan = input.plan ?? toPlan(await planIntent({ intentId: input.intentId }))
    around.view.begin(plan)
    for (step of plan.steps) isCompleted = await executeStep(input, { plan, step }, around)
  } catch (error) {
    return finalize(input, around, toFailure(error, step?.sequence))
  }
  if (!isCompleted) return finalize(input, around)
  around.view.end('completed')
  return { status: 'completed' }
}

/**
 * Has the end decided from the rows. Where they bear none, because of a reorg or because an activity was completed or
 * failed by hand, this run fails and the sweeper starts another one.
 */
async function finalize(
  { intentId }: ExecuteIntentInput,
  { view }: Surroundings,
  failure?: Failure,
): Promise<Ended> {
  const { status, code } = await finalizeIntent({ intentId, ...(failure && { failure }) })
  if (!isTerminal(status)) {
    throw ApplicationFailure.nonRetryable(
      `The intent is ${status} by its rows. Another run follows.`,
      'NOT_DONE',
    )
  }
  if (status === 'completed' || !failure) {
    view.end(status)
    return { status }
  }
  const type = code ?? failure.code
  view.end(status, { code: type, message: failure.message })
  // What the caller wanted is no failure of the workflow.
  if (type === 'CANCELLED') return { status }
  throw ApplicationFailure.nonRetryable(failure.message, type)
}

/** An operator may have completed the planning by hand, with any result. */
function toPlan(plan: ExecutionPlan | null): ExecutionPlan {
  if (Array.isArray(plan?.steps)) return plan
  throw ApplicationFailure.nonRetryable('The planning returned no plan.', 'NOT_DONE')
}

/** The first failure that was meant for the intent, under the wrappers of Temporal. */
function toFailure(error: unknown, step: number | undefined): Failure {
  const at = step === undefined ? {} : { step }
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof ApplicationFailure) {
    return { code: cause.type ?? 'INTERNAL', message: cause.message, ...at }
  }
  if (!(error instanceof ActivityFailure)) throw error
  const timedOut = cause instanceof TimeoutFailure ? { timedOut: true as const } : {}
  return { code: 'RPC_ERROR', message: 'The chains did not answer for a day.', ...at, ...timedOut }
}
