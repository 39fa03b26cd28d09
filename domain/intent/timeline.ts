import { partsOf, type BridgePart } from './bridgeParts.js'
import type { StepPlan, PlanStep } from './intent.js'
import { completionOf, type Effect } from './results.js'
import {
  afterBurn,
  hasBurned,
  hashOf,
  latest,
  operationStatus,
  optional,
  waitOfOperation,
  waitReason,
  type StepOperation,
  type StepStatus,
} from './stepOperation.js'
import type { IntentFailure, LifecycleStatus } from './intent.js'
import type { WaitingCode, WaitingFor } from './waiting.js'

export type StepTimeline = {
  sequence: number
  status: StepStatus
  startedAt?: string
  endedAt?: string
  txHash?: string
  waitingFor?: WaitingFor
  operations?: BridgePart[]
}

/** The progress of an intent, in addition to its plan. */
export type IntentProgress = {
  status: LifecycleStatus
  error: IntentFailure | null
  /** When the intent last changed, ISO 8601. */
  since: string
  operations: StepOperation[]
  effects: Effect[]
}

/** Usual duration of a wait in seconds, undefined where unknown. */
export type Usual = (step: PlanStep, code: WaitingCode, chain: string) => number | undefined

/** The timeline of each step of a plan, in their order. */
export function stepTimelines(
  plan: StepPlan,
  progress: IntentProgress,
  usual: Usual,
): StepTimeline[] {
  let since = progress.since
  let isReached = true
  return plan.steps.map((step) => {
    const timeline = stepTimeline(step, { ...progress, since, isReached }, usual)
    isReached &&= timeline.status === 'completed'
    since = timeline.endedAt ?? since
    return timeline
  })
}

/** `isReached`: all earlier steps are completed, since `since`. */
type StepProgress = IntentProgress & { isReached: boolean }

function stepTimeline(step: PlanStep, progress: StepProgress, usual: Usual): StepTimeline {
  const { sequence } = step
  const own = progress.operations.filter((one) => one.sequence === sequence)
  const isDone = completionOf(step, progress.effects) !== undefined
  const row = own.findLast(({ kind }) => kind === 'mint') ?? own[0]
  const waitingFor = isDone ? undefined : waitOfStep(step, { row, progress }, usual)
  const status = isDone ? 'completed' : statusOf(step, row, progress)
  const isEnded = status === 'completed' || status === 'failed' || status === 'cancelled'
  const txHash = own.flatMap((one) => hashOf(one) ?? []).at(-1)
  return {
    sequence,
    status,
    ...optional('startedAt', own[0]?.startedAt),
    ...optional('endedAt', isEnded ? row?.endedAt : undefined),
    ...optional('txHash', txHash),
    ...optional('waitingFor', waitingFor),
    ...(step.type === 'bridge' ? { operations: partsOf(step, own, status) } : {}),
  }
}

function statusOf(
  { sequence }: PlanStep,
  row: StepOperation | undefined,
  { status, error, isReached }: StepProgress,
): StepStatus {
  if (row) return row.kind === 'bridge' && hasBurned(row) ? 'waiting' : operationStatus(row)
  if (status === 'failed') return error?.step === sequence ? 'failed' : 'cancelled'
  return status === 'executing' && isReached ? 'waiting' : 'pending'
}

type OperationProgress = { row: StepOperation | undefined; progress: StepProgress }

function waitOfStep(
  step: PlanStep,
  { row, progress }: OperationProgress,
  usual: Usual,
): WaitingFor | undefined {
  if (!row) {
    const isNext = progress.status === 'executing' && progress.isReached
    return isNext ? { ...waitReason('SERVICE', ''), since: progress.since } : undefined
  }
  const { chain } = row
  const wait = row.kind === 'bridge' && hasBurned(row) ? afterBurn(row) : waitOfOperation(row)
  if (!wait) return undefined
  const { code, since, message } = wait
  return {
    ...waitReason(code, chain),
    ...(message ? { message } : {}),
    since,
    ...optional('usualSeconds', usual(atSpeed(step, row), code, chain)),
  }
}

/** The step at the speed at which the bridge executes it. */
const atSpeed = (step: PlanStep, { delayReason }: StepOperation): PlanStep =>
  step.type === 'bridge' && delayReason ? { ...step, speed: 'standard' } : step

/** When any part of an intent last changed. */
export const lastChange = (since: string, operations: StepOperation[]): string =>
  latest([
    since,
    ...operations.flatMap((one) => [one.startedAt, one.changedAt, one.waitsSince, one.attestedAt]),
  ]) ?? since
