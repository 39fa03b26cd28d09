import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow'
import { executeStep, type IntentInput, type StepContext } from './executeStep.js'
import { createUntilSettled } from './untilSettled.js'
import { createView } from './view.js'
import {
  isTerminal,
  type StepPlan,
  type LifecycleStatus,
  type PlanStep,
} from '../domain/intent/intent.js'
import type { Activities } from '../activities/index.js'
import type { Failure } from '../activities/status.js'

/** `plan`: absent when no chain answered at creation. The workflow then plans the intent. */
export type ExecuteIntentInput = IntentInput & { plan?: StepPlan }

const { planIntent } = proxyActivities<Activities>({
  startToCloseTimeout: '20s',
  // Only planning may end by a timeout, because it has no operation in flight.
  scheduleToCloseTimeout: '24h',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '60s' },
})

const { finalizeIntent } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10s',
  // Longer pauses are timers. A workflow task kept open writes three events every four seconds, so a database outage
  // of two days would exceed the size limit of the history.
  localRetryThreshold: '3s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '1m' },
})

type Ended = { status: LifecycleStatus }

/**
 * Executes an intent: plans it, executes its steps in order and finalizes it. The operations' rows record all progress,
 * so a second run continues where the first one stopped.
 */
export async function executeIntent(input: ExecuteIntentInput): Promise<Ended> {
  const view = createView(input.plan)
  const untilSettled = createUntilSettled(view.wait)
  // The database decides whether an intent may be cancelled. A cancellation in the Temporal UI has no effect.
  return CancellationScope.nonCancellable(() => run(input, { view, untilSettled }))
}

async function run(input: ExecuteIntentInput, around: StepContext): Promise<Ended> {
  let step: PlanStep | undefined
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
 * Finalizes the intent from its rows. When they support no final status, this run fails and the sweeper starts another
 * one. Causes are a reorg, and an activity that an operator completed or failed by hand.
 */
async function finalize(
  { intentId }: ExecuteIntentInput,
  { view }: StepContext,
  failure?: Failure,
): Promise<Ended> {
  const { status, code } = await finalizeIntent({ intentId, ...(failure && { failure }) })
  if (!isTerminal(status)) {
    throw ApplicationFailure.nonRetryable(
      `The rows show the intent as ${status}. The sweeper starts another run.`,
      'NOT_DONE',
    )
  }
  if (status === 'completed' || !failure) {
    view.end(status)
    return { status }
  }
  const type = code ?? failure.code
  view.end(status, { code: type, message: failure.message })
  // A cancellation by the caller is no failure of the workflow.
  if (type === 'CANCELLED') return { status }
  throw ApplicationFailure.nonRetryable(failure.message, type)
}

/** An operator may have completed the planning by hand, with any result. */
function toPlan(plan: StepPlan | null): StepPlan {
  if (Array.isArray(plan?.steps)) return plan
  throw ApplicationFailure.nonRetryable('The planning returned no plan.', 'NOT_DONE')
}

/** Unwraps the failure of the intent from Temporal's failure chain. */
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
