import {
  giveUpOperation,
  submitOperation,
  type MintOrder,
  type OperationOrder,
} from '../lanes/operations.js'
import { isUnsent, outcomeOf } from '../lanes/outcome.js'
import { crashPoint } from '../crashPoints.js'
import { awaitOperation } from '../lanes/watching.js'
import { markAwaited } from '../db/lanes/awaited.js'
import { findOperation, readOperations, type Operation } from '../db/lanes/operations.js'
import { takeTurn } from '../db/connection/scope.js'
import { findStop, readStoppedMs } from '../db/lanes/stops.js'
import { assetUnits } from '../domain/money.js'
import { DAILY_LIMIT, failureCodes, type OperationKind } from '../domain/operation.js'
import { isUnsettled, type Hold, type Unsettled } from '../domain/hold.js'
import { isFaultOf, type Fault } from '../domain/simulate.js'
import { finalFailure, notDone, stillWaiting } from './failures.js'
import { findHold, reasonOf } from './holds.js'
import { SLOT_MS, waitInSlot } from './slot.js'
import { completeIntent } from './status.js'
import { transactionUrl, type Registry } from '../chains/registry.js'
import { HOUR_MS } from '../durations.js'
import type { Chains } from '../chains/connect.js'
import type { Db } from '../db/connection/connect.js'
import type { PriceLimits } from '../domain/limits.js'
import type { Outcomes } from '../lanes/watching.js'
import type { Step } from '../domain/intent.js'

export type Tools = {
  db: Db
  chains: Chains
  registry: Registry
  outcomes: Outcomes
  /** What money may cost on its way; absent: the usual. */
  limits?: PriceLimits
  /** Age of a burn at which its intent is marked as failed. The wait for the money goes on. */
  bridgeGiveUpMs: number
  /** Aborts when the worker stops: waiting activities give their slot back at once. */
  stopping: AbortSignal
  /** For how long a step waits in its activity; absent: a minute. */
  slotMs?: number
}

/** A step of an intent. `deadlineMs` is Unix time after which it is given up if nothing of it is signed. */
export type StepInput<Step> = {
  intentId: string
  accountId: string
  walletId: string
  step: Step
  /** The operation whose money the step spends, by its place in the plan. Absent: what the plan says. */
  fedBy?: { sequence: number; kind: OperationKind }
  deadlineMs: number
  /** What the workflow shows that the step waits for. */
  shown?: Hold['code'] | undefined
  /** No other one follows: it completes its intent. */
  isLast?: true
  /** A failure that the caller has simulated, to test how he handles it. */
  simulate?: Fault
}

/** Ends a step of which nothing is sent yet, because its caller has its failure simulated. */
export function failIfSimulated({ simulate, step }: StepInput<Step>): void {
  if (!simulate || !isFaultOf(simulate, step)) return
  throw finalFailure(
    simulate,
    `${simulate} was simulated, as metadata.simulate asks. No ${step.type} was sent.`,
  )
}

/**
 * What a step did. `units` are base units of what its own logs show as moved; `url` is the page of its transaction,
 * where its chain has an explorer; `isCompleted`: it was the last one, and its intent is completed by the rows.
 */
export type StepResult = { txHash: string; units: string; url?: string; isCompleted?: true }

const [SHORTEST_RETRY_MS, LONGEST_RETRY_MS] = [200, 60_000]
/** Pause between two attempts, of the age of the operation. */
const RETRY_SHARE = 1 / 10

/**
 * Orders what a step does and waits for its outcome, here for a minute and longer in the workflow. Safe to repeat: an
 * operation is one row per (intent, sequence, kind), so that a second call finds the first one's.
 *
 * @param order - `deadlineMs` is Unix time after which an effect of which nothing is signed is given up, later by
 *   as long as an operator had it stopped; `open` writes what belongs to a new operation, in its transaction.
 */
export async function runStep(
  tools: Tools,
  { order, deadlineMs, shown, open }: StepRun,
): Promise<StepResult | Unsettled> {
  crashPoint('activity: before the order')
  // Of an account whose steps come by hundreds most wait here, and those of others find sessions.
  const submit = () => submitOperation(tools.db, order, open)
  const row = await takeTurn(tools.db, order.accountId, submit)
  if (!row) throw finalFailure('CANCELLED', 'The intent has already ended. Nothing was sent.')
  const slot = { stopping: tools.stopping, forMs: tools.slotMs }
  const latest = await waitInSlot(slot, (signal) => awaitOperation(tools, row, signal))
  const known = await giveUpWhenLate(tools, latest, deadlineMs)
  const unsettled =
    (await leaveWhileWaiting(tools, known, deadlineMs)) ?? (await showDeferral(tools, known, shown))
  if (unsettled) return unsettled
  crashPoint('activity: before its result')
  const last = outcomeOf(known).kind === 'waiting' ? await findOperation(tools.db, row.id) : known
  const result = toStepResult(last ?? known, failureCodes[order.kind])
  const url = transactionUrl(tools.registry.byId(order.chainId), result.txHash)
  return url === undefined ? result : { ...result, url }
}

/**
 * Completes the intent of a last step that is done, so that its workflow need not ask for it. Where the rows do not
 * bear that, the workflow has the end decided.
 */
export async function completeIfLast(
  { db }: Pick<Tools, 'db'>,
  { isLast, intentId }: Pick<StepInput<Step>, 'isLast' | 'intentId'>,
  result: StepResult | Unsettled,
): Promise<StepResult | Unsettled> {
  if (isUnsettled(result) || !isLast) return result
  const isCompleted = await completeIntent(db, intentId)
  return isCompleted ? { ...result, isCompleted } : result
}

/** @returns Undefined when the operation does not wait, or has been settled before it was marked as awaited. */
async function leaveWhileWaiting(
  { db, stopping }: Tools,
  row: Operation,
  deadlineMs: number,
): Promise<Unsettled | undefined> {
  if (outcomeOf(row).kind !== 'waiting') return undefined
  // Another worker continues at once. What the signer has put off before may be put off again and again: it is tried
  // by retries, of which the history counts none.
  if (stopping.aborted || (row.state === 'queued' && row.code !== null)) {
    throw stillWaiting(reasonOf(row), retryDelay(row))
  }
  crashPoint('activity: before the wait is marked')
  if (!(await markAwaited(db, row.id, 'outcome'))) return undefined
  crashPoint('activity: before it returns unsettled')
  const waitsFor = await findHold(db, row)
  const againMs = isUnsent(row) && deadlineMs < Infinity ? untilLate(deadlineMs) : undefined
  return { settled: false, ...(waitsFor && { waitsFor }), ...(againMs && { againMs }) }
}

/**
 * What has been put off for longer than a minute returns when its reason is another one than the workflow shows. All
 * other tries are retries by Temporal, of which the history counts none.
 */
async function showDeferral(
  { db }: Tools,
  row: Operation,
  shown: Hold['code'] | undefined,
): Promise<Unsettled | undefined> {
  if (outcomeOf(row).kind !== 'deferred' || ageOf(row) < SLOT_MS) return undefined
  const waitsFor = await findHold(db, row)
  if (!waitsFor || waitsFor.code === shown) return undefined
  return { settled: false, waitsFor, againMs: retryDelay(row) }
}

/** A step that may still be signed though its deadline has passed, such as a stopped one, is looked at hourly. */
function untilLate(deadlineMs: number): number {
  const ms = deadlineMs - Date.now()
  return ms > 0 ? ms : HOUR_MS
}

export type StepRun = {
  order: OperationOrder | MintOrder
  deadlineMs: number
  shown?: Hold['code'] | undefined
  open?: (trx: Db, id: string) => Promise<void>
}

/** Base units that a step spends: what has arrived for it, else what the plan says. All earlier steps are done then. */
export async function readSpending(
  { db }: Pick<Tools, 'db'>,
  { intentId, fedBy, step }: StepInput<Step>,
): Promise<string> {
  // Nothing is before it.
  if (step.sequence === 1) return assetUnits(step.amount).toString()
  const rows = await readOperations(db, intentId)
  for (let sequence = 1; sequence < step.sequence; sequence++) assertDone(rows, sequence)
  if (!fedBy) return assetUnits(step.amount).toString()
  const feeder = rows.find((row) => row.sequence === fedBy.sequence && row.kind === fedBy.kind)
  if (feeder?.units) return feeder.units
  throw stillWaiting('What the step before has brought is not booked yet.', SHORTEST_RETRY_MS)
}

/** The workflow says so; the rows know. */
function assertDone(rows: Operation[], sequence: number): void {
  const own = rows.filter((row) => row.sequence === sequence)
  const last = own.find(({ kind }) => kind !== 'bridge')
  if (last && outcomeOf(last).kind === 'done') return
  for (const row of own) failIfOver(row)
  if (!last || last.state === 'deferred') throw notDone(`Step ${sequence} is not done.`)
  throw stillWaiting(`Step ${sequence} is not confirmed.`, retryDelay(last))
}

/** Ends the step when an operation that it builds on has failed for good. A reorg may have turned that round. */
function failIfOver(row: Operation): void {
  const outcome = outcomeOf(row)
  if (outcome.kind !== 'failed') return
  throw finalFailure(outcome.code ?? failureCodes[row.kind], outcome.message)
}

async function giveUpWhenLate(tools: Tools, row: Operation, deadlineMs: number) {
  const { kind } = outcomeOf(row)
  const unsigned = kind === 'deferred' || row.state === 'queued'
  if (!unsigned) return row
  const isOver = (await isLate(tools, row, deadlineMs)) || (await isInVain(tools, row))
  return isOver ? giveUpOperation(tools.db, row) : row
}

async function isLate({ db }: Tools, row: Operation, deadlineMs: number): Promise<boolean> {
  // What waits for room under a daily limit is not what could not be done.
  if (row.code === DAILY_LIMIT || Date.now() <= deadlineMs) return false
  if (await findStop(db, row)) return false
  return Date.now() > deadlineMs + (await readStoppedMs(db, row))
}

/** True when an earlier step has failed after all: a reorg turned it round. The intent cannot be completed. */
async function isInVain({ db }: Tools, { intentId, sequence }: Operation): Promise<boolean> {
  const rows = await readOperations(db, intentId)
  const isMinted = (at: number) =>
    rows.some((row) => row.sequence === at && row.kind === 'mint' && outcomeOf(row).kind === 'done')
  return rows.some(
    (row) => row.sequence < sequence && outcomeOf(row).kind === 'failed' && !isMinted(row.sequence),
  )
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
        // The longer it lasts the more rarely: each attempt costs Temporal, the signer and the node.
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
