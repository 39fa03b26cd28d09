import { Context } from '@temporalio/activity'
import {
  awaitOperation,
  giveUpOperation,
  outcomeOf,
  submitOperation,
  type Effect,
  type Outcomes,
} from '../lanes/operations.js'
import { finalFailure, stillWaiting } from './failures.js'
import type { Db } from '../db/connect.js'
import type { Operation } from '../db/operations.js'

export type Tools = {
  db: Db
  outcomes: Outcomes
  /** Aborts when the worker stops: waiting activities give their slot back at once. */
  stopping: AbortSignal
}

/** What a step did. `units` are base units of what its own logs show as moved. */
export type StepResult = { txHash: string; units: string }

/** No slot is held longer than this: a long wait is many short attempts, which write no history. */
const ATTEMPT_MS = 60_000
const LONGEST_RETRY_MS = 60_000
/** A usual step is over by then and costs no heartbeat. */
const FIRST_HEARTBEAT_MS = 8_000
const HEARTBEAT_MS = 5_000
const SHORTEST_RETRY_MS = 200

/**
 * Submits a step's effect and waits for its outcome. Safe to retry: an effect is one row per (intent,
 * sequence, kind), so that a second call finds the first one's and waits for the same outcome.
 *
 * @param step - `deadlineMs` is Unix time after which an effect of which nothing is signed is given up;
 *   `failureCode` names a call that failed on chain.
 */
export async function runStep(
  tools: Tools,
  step: { effect: Effect; deadlineMs: number; failureCode: string },
): Promise<StepResult> {
  const row = await submitOperation(tools.db, step.effect)
  if (!row) throw finalFailure('CANCELLED', 'The intent is over, nothing was sent.')
  const latest = await awaitWithHeartbeat(tools, row)
  return toStepResult(await giveUpWhenLate(tools, latest, step.deadlineMs), step.failureCode)
}

async function awaitWithHeartbeat(tools: Tools, row: Operation): Promise<Operation> {
  const { heartbeat, cancellationSignal } = Context.current()
  const limit = AbortSignal.timeout(ATTEMPT_MS)
  const signal = AbortSignal.any([limit, cancellationSignal, tools.stopping])
  const started = Date.now()
  const beat = setInterval(() => {
    if (Date.now() - started >= FIRST_HEARTBEAT_MS) heartbeat()
  }, HEARTBEAT_MS)
  try {
    return await awaitOperation(tools, row, signal)
  } finally {
    clearInterval(beat)
  }
}

async function giveUpWhenLate(tools: Tools, row: Operation, deadlineMs: number) {
  const { kind } = outcomeOf(row)
  const unsigned = kind === 'deferred' || row.state === 'queued'
  return unsigned && Date.now() > deadlineMs ? giveUpOperation(tools.db, row) : row
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
        Math.max(outcome.retryAfter.getTime() - Date.now(), SHORTEST_RETRY_MS),
      )
    case 'waiting':
      throw stillWaiting(waitingFor(row), retryDelay(row))
  }
}

function waitingFor({ state, txHash }: Operation): string {
  switch (state) {
    case 'queued':
      return 'Waits for the signer.'
    case 'signed':
      return 'Signed and sent, waits to be mined.'
    default:
      return `In transaction ${txHash}, waits for confirmations.`
  }
}

function retryDelay({ createdAt }: Operation): number {
  const ageMs = Date.now() - createdAt.getTime()
  return Math.min(Math.max(ageMs / 4, SHORTEST_RETRY_MS), LONGEST_RETRY_MS)
}
