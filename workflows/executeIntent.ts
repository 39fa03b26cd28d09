import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  defineQuery,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'
import { summaryOf } from './details.js'
import { createTelling, type Telling } from './telling.js'
import { feederOf, isTerminal, lastKind } from '../domain/intent.js'
import type { ExecutionPlan, IntentStatus, Progress, Step } from '../domain/intent.js'
import type { Fault } from '../domain/simulate.js'

export type ExecuteIntentInput = {
  intentId: string
  accountId: string
  walletId: string
  /** Absent when no chain answered at creation: planned here then. */
  plan?: ExecutionPlan
  /** A failure that the caller asked for. */
  simulate?: Fault
}

const progressQuery = defineQuery<Progress>('progress')

const { planIntent } = proxyActivities<Activities>({
  startToCloseTimeout: '20s',
  // The only step that may end by a timeout: nothing of it can be in flight.
  scheduleToCloseTimeout: '24h',
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '60s' },
})

/** No scheduleToClose: an end by the server's clock would leave open whether money has moved. */
const steps = proxyActivities<
  Pick<Activities, 'deposit' | 'withdraw' | 'swap' | 'bridge' | 'awaitAttestation' | 'mint'>
>({
  startToCloseTimeout: '75s',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '60s' },
})

const { finalizeIntent } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10s',
  // Longer pauses are timers. A task kept open for them would write three events each four seconds, and a
  // Postgres that is away for two days would end the workflow by the size of its history.
  localRetryThreshold: '3s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '1m' },
})

/** A step of which nothing is signed by then is given up. An RPC that is down for hours only delays. */
const STEP_DEADLINE_MS = 24 * 3_600_000

/** Between two rounds through the steps; the first one that is gone through again begins at once. */
const ROUND_PAUSES_MS = { first: 1_000, longest: 600_000 }

/** `timedOut`: the server gave up waiting, which nobody can forge. */
type Failure = { code: string; message: string; step?: number; timedOut?: true }

/**
 * Executes an intent: plan, step by step, end. Which state its money is in stands in the operations'
 * rows at every moment; started again, it finds what is done and goes on.
 */
export async function executeIntent(input: ExecuteIntentInput): Promise<{ status: string }> {
  const progress: Progress = { status: input.plan ? 'planning' : 'pending', completedSteps: 0 }
  setHandler(progressQuery, () => progress)
  const telling = createTelling()
  // Whether an intent may be cancelled is decided in the database, not by a click in the Temporal UI.
  return CancellationScope.nonCancellable(() => run(input, { progress, telling }))
}

/** What readers are told: callers, who query it, and operators. */
type Told = { progress: Progress; telling: Telling }

/** `code`: under which it has failed. */
type Ended = { status: IntentStatus; code?: string }

async function run(input: ExecuteIntentInput, told: Told): Promise<{ status: string }> {
  const { intentId } = input
  const { progress, telling } = told
  for (let round = 1; ; round++) {
    if (round > 2) await pause(round)
    const { isCompleted, failure } = await runSteps(input, told)
    const { status, code }: Ended = isCompleted
      ? { status: 'completed' }
      : await finalizeIntent({ intentId, ...(failure && { failure }) })
    progress.status = status
    // The rows say otherwise: a reorg has changed them, or a step was completed or failed by hand. Steps that are
    // done return at once.
    if (!isTerminal(status)) continue
    if (!failure || status === 'completed') {
      telling.end(status)
      return { status }
    }
    const type = code ?? failure.code
    telling.end(status, { code: type, message: failure.message })
    // What the caller wanted is no failure of the workflow.
    if (type === 'CANCELLED') return { status }
    throw ApplicationFailure.create({ type, message: failure.message, nonRetryable: true })
  }
}

/** However often somebody forges the end of a step, the history stays small. */
async function pause(round: number): Promise<void> {
  if (!patched('pause between rounds')) return
  await sleep(Math.min(ROUND_PAUSES_MS.first * 2 ** (round - 3), ROUND_PAUSES_MS.longest))
}

/** `isCompleted`: the last step has completed the intent. `failure`: why it ends early. Neither: all steps returned. */
type Gone = { isCompleted?: boolean; failure?: Failure }

/** Goes through the plan. */
async function runSteps(input: ExecuteIntentInput, told: Told): Promise<Gone> {
  const { progress, telling } = told
  progress.completedSteps = 0
  let step: number | undefined
  let isCompleted = false
  try {
    const plan = input.plan ?? toPlan(await planIntent({ intentId: input.intentId }))
    telling.begin(plan)
    for (const next of plan.steps) {
      step = next.sequence
      progress.status = 'executing'
      progress.waitingFor = summaryOf(next)
      telling.step(step)
      const isLast = next === plan.steps.at(-1)
      const at = { step: next, feeder: feederOf(plan, next), isLast }
      isCompleted = await executeStep(input, at, told)
      progress.completedSteps += 1
    }
    return { isCompleted }
  } catch (error) {
    return { failure: toFailure(error, step) }
  }
}

/** Somebody may have completed the planning by hand, with whatever. */
function toPlan(plan: ExecutionPlan | null): ExecutionPlan {
  if (Array.isArray(plan?.steps)) return plan
  throw ApplicationFailure.nonRetryable('The planning told no plan.', 'NOT_DONE')
}

/** `feeder`: the step that brings the money which this one spends, if there is one. */
type At = { step: Step; feeder: Step | undefined; isLast: boolean }

/** @returns Whether it has completed the intent, as the last step does. */
async function executeStep(
  input: ExecuteIntentInput,
  at: At,
  { progress, telling }: Told,
): Promise<boolean> {
  const { step, isLast } = at
  const { sequence } = step
  const shared = sharedBy(input, at)
  const mark = (what: string, chain: string, result: Result) => {
    const { txHash, url } = toHash(result)
    telling.mark({ sequence, what, chain, txHash, ...(url && { url }) })
    return isLast && result?.isCompleted === true
  }
  const options = { summary: summaryOf(step) }
  switch (step.type) {
    case 'deposit': {
      const result = await steps.deposit.executeWithOptions(options, [{ ...shared, step }])
      return mark('deposited', step.chain, result)
    }
    case 'withdraw': {
      const result = await steps.withdraw.executeWithOptions(options, [{ ...shared, step }])
      return mark('withdrawn', step.chain, result)
    }
    case 'swap': {
      const result = await steps.swap.executeWithOptions(options, [{ ...shared, step }])
      return mark('swapped', step.chain, result)
    }
    case 'bridge': {
      const burned = await steps.bridge.executeWithOptions(options, [{ ...shared, step }])
      mark('burned', step.from, burned)
      telling.wait(burned?.attestation)
      progress.waitingFor = `attestation of ${summaryOf(step)}`
      const wait = { summary: progress.waitingFor }
      const attested = await steps.awaitAttestation.executeWithOptions(wait, [{ ...shared, step }])
      telling.wait(undefined)
      const end = { summary: `mint ${step.asset} on ${step.to}` }
      const nonce = attested?.nonce
      const minted = await steps.mint.executeWithOptions(end, [{ ...shared, step, nonce }])
      return mark('minted', step.to, minted)
    }
  }
}

/** What all activities of a step are given. */
function sharedBy(input: ExecuteIntentInput, { feeder, isLast }: At) {
  const { intentId, accountId, walletId, simulate } = input
  const fedBy = feeder && { sequence: feeder.sequence, kind: lastKind(feeder) }
  return {
    ...{ intentId, accountId, walletId },
    deadlineMs: Date.now() + STEP_DEADLINE_MS,
    ...(fedBy && { fedBy }),
    ...(isLast && { isLast }),
    ...(simulate && { simulate }),
  }
}

/** What an activity returned, or what somebody who completed it by hand said. */
type Result = { txHash: string; url?: string; isCompleted?: boolean } | null

const toHash = (result: Result): { txHash: string; url?: string } => ({
  txHash: typeof result?.txHash === 'string' ? result.txHash : 'unknown',
  ...(typeof result?.url === 'string' ? { url: result.url } : {}),
})

/** The first failure that was meant for the intent, under the wrappers of Temporal. */
function toFailure(error: unknown, step: number | undefined): Failure {
  const at = step === undefined ? {} : { step }
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof ApplicationFailure) {
    return { code: cause.type ?? 'INTERNAL', message: cause.message, ...at }
  }
  if (error instanceof ActivityFailure) {
    const timedOut = cause instanceof TimeoutFailure ? { timedOut: true as const } : {}
    return {
      code: 'RPC_ERROR',
      message: 'The chains did not answer for a day.',
      ...at,
      ...timedOut,
    }
  }
  throw error
}
