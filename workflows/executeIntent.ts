import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  TimeoutFailure,
  defineQuery,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
} from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'
import { feederOf, isTerminal, lastKind } from '../domain/intent.js'
import type { ExecutionPlan, Progress, Step } from '../domain/intent.js'
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
  // Longer pauses are timers. A task kept open for them would write three events each eight seconds, and a
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
  // Whether an intent may be cancelled is decided in the database, not by a click in the Temporal UI.
  return CancellationScope.nonCancellable(() => run(input, progress))
}

async function run(input: ExecuteIntentInput, progress: Progress): Promise<{ status: string }> {
  const { intentId } = input
  for (let round = 1; ; round++) {
    if (round > 2) await pause(round)
    const failure = await runSteps(input, progress)
    const { status } = await finalizeIntent({ intentId, ...(failure && { failure }) })
    progress.status = status
    // The rows say otherwise: a reorg has changed them, or a step was completed or failed by hand. Steps that are
    // done return at once.
    if (!isTerminal(status)) continue
    // What the caller wanted is no failure of the workflow.
    if (!failure || failure.code === 'CANCELLED' || status === 'completed') return { status }
    throw ApplicationFailure.create({
      type: failure.code,
      message: failure.message,
      nonRetryable: true,
    })
  }
}

/** However often somebody forges the end of a step, the history stays small. */
async function pause(round: number): Promise<void> {
  if (!patched('pause between rounds')) return
  await sleep(Math.min(ROUND_PAUSES_MS.first * 2 ** (round - 3), ROUND_PAUSES_MS.longest))
}

/** Goes through the plan. @returns Why it ends early; undefined when all steps returned. */
async function runSteps(
  input: ExecuteIntentInput,
  progress: Progress,
): Promise<Failure | undefined> {
  progress.completedSteps = 0
  let step: number | undefined
  try {
    const plan = input.plan ?? (await planIntent({ intentId: input.intentId }))
    describe(plan, [])
    const hashes: string[] = []
    for (const next of plan.steps) {
      step = next.sequence
      progress.status = 'executing'
      progress.waitingFor = summaryOf(next)
      hashes.push(await executeStep(input, { step: next, feeder: feederOf(plan, next) }, progress))
      progress.completedSteps += 1
      describe(plan, hashes)
    }
    return undefined
  } catch (error) {
    return toFailure(error, step)
  }
}

/**
 * @param feeder - The step that brings the money which this one spends, if there is one.
 * @returns Hash of the transaction with which the step is over.
 */
async function executeStep(
  input: ExecuteIntentInput,
  { step, feeder }: { step: Step; feeder: Step | undefined },
  progress: Progress,
): Promise<string> {
  const { intentId, accountId, walletId, simulate } = input
  const fedBy = feeder && { sequence: feeder.sequence, kind: lastKind(feeder) }
  const deadlineMs = Date.now() + STEP_DEADLINE_MS
  const shared = {
    intentId,
    accountId,
    walletId,
    deadlineMs,
    ...(fedBy && { fedBy }),
    ...(simulate && { simulate }),
  }
  const options = { summary: summaryOf(step) }
  switch (step.type) {
    case 'deposit':
      return (await steps.deposit.executeWithOptions(options, [{ ...shared, step }])).txHash
    case 'withdraw':
      return (await steps.withdraw.executeWithOptions(options, [{ ...shared, step }])).txHash
    case 'swap':
      return (await steps.swap.executeWithOptions(options, [{ ...shared, step }])).txHash
    case 'bridge': {
      await steps.bridge.executeWithOptions(options, [{ ...shared, step }])
      progress.waitingFor = `attestation of ${summaryOf(step)}`
      const wait = { summary: progress.waitingFor }
      const { nonce } = await steps.awaitAttestation.executeWithOptions(wait, [{ ...shared, step }])
      const end = { summary: `mint ${step.asset} on ${step.to}` }
      return (await steps.mint.executeWithOptions(end, [{ ...shared, step, nonce }])).txHash
    }
  }
}

function summaryOf(step: Step): string {
  const { type, amount, asset, protocol } = step
  switch (type) {
    case 'deposit':
      return `deposit ${amount} ${asset} in ${protocol} on ${step.chain}`
    case 'withdraw':
      return `withdraw ${amount} ${asset} from ${protocol} on ${step.chain}`
    case 'swap':
      return `swap ${amount} ${asset} to ${step.toAsset} on ${step.chain}`
    case 'bridge':
      return `bridge ${amount} ${asset} from ${step.from} to ${step.to}`
  }
}

/** What an operator reads in the Temporal UI: the steps, how far they are, their transactions. */
function describe(plan: ExecutionPlan, hashes: string[]): void {
  const lines = plan.steps.map((step, i) => {
    const hash = hashes[i]
    return `${step.sequence}. ${summaryOf(step)}: ${hash ? `done, \`${hash}\`` : 'open'}`
  })
  setCurrentDetails([plan.reasoning, '', ...lines].join('\n'))
}

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
