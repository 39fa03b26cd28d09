import { submitOperation, type OperationOrder } from '../operations/submit.js'
import { isUnsent, outcomeOf } from '../operations/outcome.js'
import { faultPoint } from '../runtime/faultPoints.js'
import { awaitOperation } from '../operations/watchOutcomes.js'
import { markAwaited } from '../operations/awaited.js'
import { findOperation, readOperations, type Operation } from '../operations/operations.js'
import { takeTurn } from '../db/client/scope.js'
import { failureCodes, type OperationKind } from '../domain/intent/operation.js'
import { isUnsettled, type WaitReason, type Unsettled } from '../domain/intent/waitReason.js'
import { isFaultOf, type Fault } from '../domain/simulate.js'
import { finalFailure, notDone, stillWaiting } from './failures.js'
import { giveUpWhenLate } from './giveUp.js'
import { findWaitReason, reasonOf } from './waitReasons.js'
import { SLOT_MS, waitInSlot } from './slot.js'
import { completeIntent } from './status.js'
import { transactionUrl, type Registry } from '../evm/registry.js'
import { HOUR_MS } from '../runtime/durations.js'
import type { Chains } from '../evm/connect.js'
import type { Db } from '../db/client/connect.js'
import type { PlanLimits } from '../domain/limits.js'
import type { Outcomes } from '../operations/watchOutcomes.js'
import type { PlanStep } from '../domain/intent/intent.js'

export type Tools = {
  db: Db
  chains: Chains
  registry: Registry
  outcomes: Outcomes
  /** Limits of plans. Defaults to `defaultLimits`. */
  limits?: PlanLimits
  /** Age of a burn at which its intent is marked as failed. The wait for the money continues. */
  bridgeGiveUpMs: number
  /** Aborts when the worker stops. Waiting activities then release their slot at once. */
  stopping: AbortSignal
  /** Longest wait of a step inside its activity. Defaults to `SLOT_MS`. */
  slotMs?: number
}

/** A step of an intent. `deadlineMs`: Unix time after which an unsigned step expires. */
export type StepInput<Step> = {
  intentId: string
  accountId: string
  walletId: string
  step: Step
  /** The operation whose output the step spends. Absent: the step spends the planned amount. */
  fedBy?: { sequence: number; kind: OperationKind }
  deadlineMs: number
  /** The wait reason that the workflow currently shows. */
  shown?: WaitReason['code'] | undefined
  /** The last step of the plan. It completes its intent. */
  isLast?: true
  /** A failure that the caller simulates, to test their handling of it. */
  simulate?: Fault
}

/** Ends a step before anything of it is sent, when the caller simulates its failure. */
export function failIfSimulated({ simulate, step }: StepInput<PlanStep>): void {
  if (!simulate || !isFaultOf(simulate, step)) return
  throw finalFailure(
    simulate,
    `${simulate} was simulated because of metadata.simulate. No ${step.type} was sent.`,
  )
}

/**
 * The result of a step. `units`: base units that its own logs moved. `url`: the explorer page of its transaction,
 * absent on chains without an explorer. `isCompleted`: the step was the last one and has completed its intent.
 */
export type StepResult = { txHash: string; units: string; url?: string; isCompleted?: true }

const [SHORTEST_RETRY_MS, LONGEST_RETRY_MS] = [200, 60_000]
/** Pause between two attempts as a share of the operation's age. */
const RETRY_SHARE = 1 / 10

/**
 * Stores the operation of a step and waits for its outcome. The activity waits for at most a minute, and the workflow
 * continues the wait. Safe to repeat: an operation is one row per (intent, sequence, kind), so a second call finds the
 * first row.
 *
 * @param run - `deadlineMs`: Unix time after which an unsigned operation expires. It moves by the time for which a
 *   pause or freeze stopped the operation. `open` writes rows that belong to a new operation, in its transaction.
 */
export async function runStep(
  tools: Tools,
  { order, deadlineMs, shown, open }: StepRun,
): Promise<StepResult | Unsettled> {
  faultPoint('activity: before the order')
  // Limits the sessions of one account, so that its flood leaves sessions for other accounts.
  const submit = () => submitOperation(tools.db, order, open)
  const row = await takeTurn(tools.db, order.accountId, submit)
  if (!row) throw finalFailure('CANCELLED', 'The intent has already finished. Nothing was sent.')
  const slot = { stopping: tools.stopping, forMs: tools.slotMs }
  const latest = await waitInSlot(slot, (signal) => awaitOperation(tools, row, signal))
  const known = await giveUpWhenLate(tools.db, latest, deadlineMs)
  const unsettled =
    (await leaveWhileWaiting(tools, known, deadlineMs)) ?? (await showDeferral(tools, known, shown))
  if (unsettled) return unsettled
  faultPoint('activity: before its result')
  const last = outcomeOf(known).kind === 'waiting' ? await findOperation(tools.db, row.id) : known
  const result = toStepResult(last ?? known, failureCodes[order.kind])
  const url = transactionUrl(tools.registry.byId(order.chainId), result.txHash)
  return url === undefined ? result : { ...result, url }
}

/**
 * Completes the intent after its last step, which saves the workflow a local activity. When the rows do not show all
 * steps as done, the workflow calls `finalizeIntent`.
 */
export async function completeIfLast(
  { db }: Pick<Tools, 'db'>,
  { isLast, intentId }: Pick<StepInput<PlanStep>, 'isLast' | 'intentId'>,
  result: StepResult | Unsettled,
): Promise<StepResult | Unsettled> {
  if (isUnsettled(result) || !isLast) return result
  const isCompleted = await completeIntent(db, intentId)
  return isCompleted ? { ...result, isCompleted } : result
}

/** @returns Undefined when the operation does not wait, or settled before it was marked as awaited. */
async function leaveWhileWaiting(
  { db, stopping }: Tools,
  row: Operation,
  deadlineMs: number,
): Promise<Unsettled | undefined> {
  if (outcomeOf(row).kind !== 'waiting') return undefined
  // A stopping worker fails the attempt, and another worker continues at once. A deferred operation may be deferred
  // many times. It polls by activity retries, which add no events to the workflow history.
  if (stopping.aborted || (row.state === 'queued' && row.code !== null)) {
    throw stillWaiting(reasonOf(row), retryDelay(row))
  }
  faultPoint('activity: before the wait is marked')
  if (!(await markAwaited(db, row.id, 'outcome'))) return undefined
  faultPoint('activity: before it returns unsettled')
  const waitsFor = await findWaitReason(db, row)
  const againMs = isUnsent(row) && deadlineMs < Infinity ? untilLate(deadlineMs) : undefined
  return { settled: false, ...(waitsFor && { waitsFor }), ...(againMs && { againMs }) }
}

/**
 * Returns the wait reason of an operation that is deferred for over a minute, when the workflow shows another one.
 * All other attempts end as activity retries, which add no events to the workflow history.
 */
async function showDeferral(
  { db }: Tools,
  row: Operation,
  shown: WaitReason['code'] | undefined,
): Promise<Unsettled | undefined> {
  if (outcomeOf(row).kind !== 'deferred' || ageOf(row) < SLOT_MS) return undefined
  const waitsFor = await findWaitReason(db, row)
  if (!waitsFor || waitsFor.code === shown) return undefined
  return { settled: false, waitsFor, againMs: retryDelay(row) }
}

/** Milliseconds until the deadline. An hour for a step that waits past its deadline, during a pause for example. */
function untilLate(deadlineMs: number): number {
  const ms = deadlineMs - Date.now()
  return ms > 0 ? ms : HOUR_MS
}

export type StepRun = {
  order: OperationOrder
  deadlineMs: number
  shown?: WaitReason['code'] | undefined
  open?: (trx: Db, id: string) => Promise<void>
}

/**
 * Asserts that all earlier steps are done, and that the output of the `fedBy` operation is known. The database and the
 * signer derive the amount that the step spends.
 */
export async function assertFed(
  { db }: Pick<Tools, 'db'>,
  { intentId, fedBy, step }: StepInput<PlanStep>,
): Promise<void> {
  if (step.sequence === 1) return
  const rows = await readOperations(db, intentId)
  for (let sequence = 1; sequence < step.sequence; sequence++) assertDone(rows, sequence)
  if (!fedBy) return
  const sourceStep = rows.find((row) => row.sequence === fedBy.sequence && row.kind === fedBy.kind)
  if (sourceStep?.units) return
  throw stillWaiting('The output of the previous step is not indexed yet.', SHORTEST_RETRY_MS)
}

/** Checks in the rows that an earlier step is done. The workflow's own view may be outdated. */
function assertDone(rows: Operation[], sequence: number): void {
  const own = rows.filter((row) => row.sequence === sequence)
  const last = own.find(({ kind }) => kind !== 'bridge')
  if (last && outcomeOf(last).kind === 'done') return
  for (const row of own) assertNotFailed(row)
  if (!last || last.state === 'deferred') throw notDone(`Step ${sequence} is not done.`)
  throw stillWaiting(`Step ${sequence} is not confirmed.`, retryDelay(last))
}

/** Ends the step when an operation that it depends on has failed, after a reorg for example. */
function assertNotFailed(row: Operation): void {
  const outcome = outcomeOf(row)
  if (outcome.kind !== 'failed') return
  throw finalFailure(outcome.code ?? failureCodes[row.kind], outcome.message)
}

function toStepResult(row: Operation, failureCode: string): StepResult {
  const outcome = outcomeOf(row)
  switch (outcome.kind) {
    case 'done':
      return { txHash: outcome.txHash, units: (outcome.units ?? 0n).toString() }
    case 'failed':
      throw finalFailure(outcome.code ?? failureCode, outcome.message)
    case 'deferred':
      throw stillWaiting(
        `${outcome.code}: ${outcome.message}`,
        // The pause grows with age, because each attempt costs Temporal, the signer and the node.
        Math.max(outcome.retryAfter.getTime() - Date.now(), retryDelay(row)),
      )
    case 'waiting':
      throw stillWaiting(reasonOf(row), retryDelay(row))
  }
}

const ageOf = ({ createdAt }: Operation) => Date.now() - createdAt.getTime()

function retryDelay(row: Operation): number {
  return Math.min(Math.max(ageOf(row) * RETRY_SHARE, SHORTEST_RETRY_MS), LONGEST_RETRY_MS)
}
