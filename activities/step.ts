import { Context } from '@temporalio/activity'
import {
  awaitOperation,
  giveUpOperation,
  submitOperation,
  type OperationOrder,
  type MintOrder,
} from '../lanes/operations.js'
import { outcomeOf } from '../lanes/outcome.js'
import { crashPoint } from '../crashPoints.js'
import { findOperation, readOperations, type Operation } from '../db/lanes/operations.js'
import { takeTurn } from '../db/connection/scope.js'
import { findStop, readStoppedMs } from '../db/lanes/stops.js'
import type { PriceLimits } from '../domain/limits.js'
import { assetUnits } from '../domain/money.js'
import { DAILY_LIMIT, failureCodes, type OperationKind } from '../domain/operation.js'
import { unusualIn, type Hold } from '../domain/hold.js'
import { isFaultOf, type Fault } from '../domain/simulate.js'
import { finalFailure, notDone, stillWaiting } from './failures.js'
import {
  createTeller,
  findHold,
  holdOf,
  isUnsent,
  reasonOf,
  stoppedBy,
  type Teller,
} from './holds.js'
import { attemptMs, park, parkedPause } from './parking.js'
import { completeIntent } from './status.js'
import type { Chains } from '../chains/connect.js'
import { transactionUrl, type Registry } from '../chains/registry.js'
import type { Db } from '../db/connection/connect.js'
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

const LONGEST_RETRY_MS = 60_000
/** What is let go on is under way at once, and its activity hears of it soon. */
const LONGEST_STOP_MS = 15_000
/** A usual step is over by then and costs no heartbeat. */
const FIRST_HEARTBEAT_MS = 8_000
const HEARTBEAT_MS = 5_000
const FRESH_MS = 1_000
const SHORTEST_RETRY_MS = 200
/** Nobody reads why a wait was over; without this each would make an error with its stack. */
const OVER = 'over'
/** Pause after an attempt, of the age of its operation: one that waits is woken, a deferred one only tried again. */
const WAITING_SHARE = 1 / 4
const DEFERRED_SHARE = 1 / 10

/**
 * Submits what a step orders and waits for its outcome. Safe to retry: an operation is one row per (intent,
 * sequence, kind), so that a second call finds the first one's and waits for the same outcome.
 *
 * @param order - `deadlineMs` is Unix time after which an effect of which nothing is signed is given up, later by
 *   as long as an operator had it stopped; `open` writes what belongs to a new operation, in its transaction.
 */
export async function runStep(
  tools: Tools,
  { order, deadlineMs, open }: StepRun,
): Promise<StepResult> {
  crashPoint('activity: before the order')
  // Of an account whose steps come by hundreds most wait here, and those of others find sessions.
  const submit = () => submitOperation(tools.db, order, open)
  const row = await takeTurn(tools.db, order.accountId, submit)
  if (!row) throw finalFailure('CANCELLED', 'The intent has already ended. Nothing was sent.')
  const teller = createTeller()
  await assertNotStopped(tools, row, teller)
  const latest = await wait(tools, row, teller)
  const settled = await giveUpWhenLate(tools, latest, deadlineMs)
  const tellAgainMs = await tellHold(teller, await findHold(tools.db, settled))
  const last = await parkWhileWaiting(tools, settled, { deadlineMs, tellAgainMs })
  crashPoint('activity: before its result')
  const result = toStepResult(last, failureCodes[order.kind])
  const url = transactionUrl(tools.registry.byId(order.chainId), result.txHash)
  return url === undefined ? result : { ...result, url }
}

/**
 * Completes the intent of a last step that is done, so that its workflow need not ask for it. Where the rows say
 * otherwise nothing is said of it: the workflow then has it decided how the intent ends.
 */
export async function completeIfLast(
  { db }: Pick<Tools, 'db'>,
  { isLast, intentId }: Pick<StepInput<Step>, 'isLast' | 'intentId'>,
  result: StepResult,
): Promise<StepResult> {
  const isCompleted = isLast === true && (await completeIntent(db, intentId))
  return isCompleted ? { ...result, isCompleted } : result
}

function wait(tools: Tools, row: Operation, teller: Teller): Promise<Operation> {
  const watch = async (now: Operation) => {
    // What is shown first was not stopped a moment ago, or is too young to say so.
    const hold = now === row ? holdOf(now) : await findHold(tools.db, now)
    const againMs = await tellHold(teller, hold)
    return { againMs, ofEachState: teller.hasTold() }
  }
  return whileBeating(
    { ...tools, attemptMs: attemptMs(ageOf(row)) },
    (signal) => awaitOperation({ ...tools, watch }, row, signal),
    () => {
      teller.beat()
    },
  )
}

const ageOf = ({ createdAt }: Operation) => Date.now() - createdAt.getTime()

/** @returns After how many milliseconds there may be more to tell though nothing has changed. */
async function tellHold(teller: Teller, hold: Hold | undefined): Promise<number | undefined> {
  if (!hold) return undefined
  const againMs = await teller.tell(hold)
  return againMs ?? unusualIn(hold)
}

/**
 * Whatever waits for the signer waits for an operator first. Said at once: nobody can tell how long it takes. Of what
 * was ordered just now the first look at all who wait says so.
 */
async function assertNotStopped(tools: Tools, row: Operation, teller: Teller): Promise<void> {
  const isStoppable = isUnsent(row) && ageOf(row) >= FRESH_MS
  const stop = isStoppable ? await findStop(tools.db, row) : undefined
  if (!stop) return
  const hold = stoppedBy(stop)
  await teller.tell(hold)
  const isParked = await park(tools, row.id)
  // It was let go on meanwhile.
  if (isParked && !(await findStop(tools.db, row))) return
  const pauseMs = isParked
    ? parkedPause()
    : Math.min(retryDelay(row, WAITING_SHARE), LONGEST_STOP_MS)
  throw stillWaiting(hold.message, pauseMs)
}

/**
 * Gives back the slot of a step that waits on, until its row changes.
 *
 * @returns The row as it is, should it have changed before anybody was there to notice.
 */
async function parkWhileWaiting(
  tools: Tools,
  row: Operation,
  { deadlineMs, tellAgainMs = Infinity }: { deadlineMs: number; tellAgainMs: number | undefined },
): Promise<Operation> {
  if (outcomeOf(row).kind !== 'waiting' || !(await park(tools, row.id))) return row
  const latest = (await findOperation(tools.db, row.id)) ?? row
  if (outcomeOf(latest).kind !== 'waiting') return latest
  const toDeadlineMs =
    isUnsent(latest) && Date.now() <= deadlineMs ? deadlineMs - Date.now() : Infinity
  throw stillWaiting(reasonOf(latest), parkedPause(Math.min(tellAgainMs, toDeadlineMs)))
}

export type StepRun = {
  order: OperationOrder | MintOrder
  deadlineMs: number
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
  throw stillWaiting(`Step ${sequence} is not confirmed.`, retryDelay(last, WAITING_SHARE))
}

/** Ends the step when an operation that it builds on has failed for good. A reorg may have turned that round. */
function failIfOver(row: Operation): void {
  const outcome = outcomeOf(row)
  if (outcome.kind !== 'failed') return
  throw finalFailure(outcome.code ?? failureCodes[row.kind], outcome.message)
}

/** Runs a wait that ends by itself when its attempt is over, and tells Temporal that it is alive. */
export async function whileBeating<T>(
  { stopping, attemptMs }: Pick<Tools, 'stopping'> & { attemptMs: number },
  wait: (signal: AbortSignal) => Promise<T>,
  heartbeat: () => void = () => {
    Context.current().heartbeat()
  },
): Promise<T> {
  const { cancellationSignal } = Context.current()
  const over = new AbortController()
  const end = () => {
    over.abort(OVER)
  }
  const limit = setTimeout(end, attemptMs)
  // Not by AbortSignal.any: what it makes leaves a trace at each source, and `stopping` lives as long as the worker.
  const sources = [cancellationSignal, stopping]
  for (const source of sources) source.addEventListener('abort', end)
  if (sources.some(({ aborted }) => aborted)) end()
  const started = Date.now()
  const beat = setInterval(() => {
    if (Date.now() - started >= FIRST_HEARTBEAT_MS) heartbeat()
  }, HEARTBEAT_MS)
  try {
    return await wait(over.signal)
  } finally {
    clearInterval(beat)
    clearTimeout(limit)
    for (const source of sources) source.removeEventListener('abort', end)
    // Whoever waits for a change does so no longer.
    end()
  }
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
        Math.max(outcome.retryAfter.getTime() - Date.now(), retryDelay(row, DEFERRED_SHARE)),
      )
    case 'waiting':
      throw stillWaiting(reasonOf(row), retryDelay(row, WAITING_SHARE))
  }
}

function retryDelay(row: Operation, share: number): number {
  return Math.min(Math.max(ageOf(row) * share, SHORTEST_RETRY_MS), LONGEST_RETRY_MS)
}
