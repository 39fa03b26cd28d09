import { crashPoint } from '../crashPoints.js'
import { readEffects } from '../db/lanes/effects.js'
import { lockIntent, type Intent } from '../db/intents/intents.js'
import { completeWhenDone, setFailed } from '../db/intents/status.js'
import { refund } from '../db/tenants/metering.js'
import { expireOperation, readOperations, type Operation } from '../db/lanes/operations.js'
import { releaseUnsigned } from '../db/lanes/reservations.js'
import { ServiceError } from '../domain/errors.js'
import {
  isTerminal,
  type ExecutionPlan,
  type IntentError,
  type IntentStatus,
  type Step,
} from '../domain/intent.js'
import { completionOf, type Effect } from '../domain/results.js'
import { toFailureCode } from '../domain/failures.js'
import { locateFunds } from '../domain/funds.js'
import { failureCodes, isSigned } from '../domain/operation.js'
import { outcomeOf } from '../lanes/outcome.js'
import { freeFailures } from '../domain/prices.js'
import { faultIn, isFaultOf } from '../domain/simulate.js'
import { planPending, type PlanningTools } from '../planning/intents.js'
import { finalFailure } from './failures.js'
import type { Db } from '../db/connection/connect.js'

/**
 * Plans an intent for which no chain answered when it was created. Nothing of it is in flight yet. What cannot be
 * planned at all is ended here: whoever reads the row then needs to believe nobody.
 */
export async function planIntent(
  tools: PlanningTools,
  { intentId }: { intentId: string },
): Promise<ExecutionPlan> {
  try {
    return await planPending(tools, intentId)
  } catch (error) {
    const over = ['INSUFFICIENT_FUNDS', 'INVALID_REQUEST', 'CANCELLED']
    if (error instanceof ServiceError && over.includes(error.code)) {
      const { code, message } = error
      await finalizeIntent(tools.db, { intentId, failure: { code, message } })
      throw finalFailure(code, message)
    }
    throw error
  }
}

export type FinalizeInput = {
  intentId: string
  /** Why it ends early; absent when all its steps returned. */
  failure?: Failure
}
/** `timedOut`: no answer came in the time that the server grants. Nobody can say so by hand. */
type Failure = { code: string; message: string; step?: number; timedOut?: true }

/**
 * Writes the end that a workflow has come to, as `finalizeIntent` does. Operators of Temporal can complete and
 * fail an activity by hand, so that the failure that it tells counts only where the database bears it.
 *
 * @returns Also the code under which the intent has failed.
 */
export async function finalizeTold(
  db: Db,
  { intentId, failure }: FinalizeInput,
): Promise<{ status: IntentStatus; code?: string }> {
  const isBorne = failure !== undefined && (await isTrue(db, intentId, failure))
  const { status, error } = await conclude(db, { intentId, ...(isBorne && { failure }) })
  return { status, ...(error && { code: error.code }) }
}

/** Of what no row of an operation says: a failure that the caller asked for, and a plan that nobody could make. */
async function isTrue(db: Db, intentId: string, { code, step, timedOut }: Failure) {
  const { plan, metadata } = await db.transaction((trx) => lockIntent(trx, intentId))
  if (!plan) return timedOut === true && step === undefined
  const failed = plan.steps.find(({ sequence }) => sequence === step)
  const fault = faultIn(metadata)
  return failed !== undefined && fault === code && isFaultOf(fault, failed)
}

/**
 * Writes the end of an intent. The only judge of it: what it says is decided from the operations' rows under
 * the intent's lock, not from what anybody believes. Gives the credits back when the end is free. Safe to
 * repeat.
 *
 * @returns The intent's status; `executing` when the rows do not bear an end, because a reorg has changed them
 *   since the workflow read them.
 */
export async function finalizeIntent(
  db: Db,
  input: FinalizeInput,
): Promise<{ status: IntentStatus }> {
  const { status } = await conclude(db, input)
  return { status }
}

/** Completes an intent whose steps are all done by their rows. Safe to repeat. True when it is completed. */
export async function completeIntent(db: Db, intentId: string): Promise<boolean> {
  crashPoint('activity: before the end is stored')
  return completeWhenDone(db, intentId)
}

async function conclude(db: Db, input: FinalizeInput): Promise<Pick<Intent, 'status' | 'error'>> {
  if (await completeIntent(db, input.intentId)) return { status: 'completed', error: null }
  const { intent, isFree } = await db.transaction(async (trx) => {
    const intent = await writeEnd(trx, input)
    return { intent, isFree: await costsNothing(trx, intent) }
  })
  // After the commit: a cancel locks the account and then the intent, so that whoever holds an intent must not
  // wait for its account. A crash in between repeats the activity, which comes here again.
  if (isFree) await refund(db, intent.requestId)
  return intent
}

async function writeEnd(trx: Db, { intentId, failure }: FinalizeInput): Promise<Intent> {
  const intent = await lockIntent(trx, intentId)
  if (isTerminal(intent.status)) return intent
  // Its last step may have been booked a moment ago.
  if (await completeWhenDone(trx, intentId)) return { ...intent, status: 'completed' }
  const effects = await readEffects(trx, intentId)
  const operations = await readOperations(trx, intentId)
  if (!failureIn({ intent, operations, effects }, failure)) return intent
  for (const { id } of operations) await expireOperation(trx, id)
  // What was signed before it could be given up goes on.
  const left = await readOperations(trx, intentId)
  const found = failureIn({ intent, operations: left, effects }, failure)
  if (!found) return intent
  await releaseUnsigned(trx, intentId)
  const error = toIntentError(intent, found, effects)
  await setFailed(trx, intentId, error)
  return { ...intent, status: 'failed', error }
}

type Rows = { intent: Intent; operations: Operation[]; effects: Effect[] }

/**
 * Why an intent is over: the first of its steps that failed in the rows, else what was found of a step of which
 * nothing was ever signed. Undefined while something of it is open: a step that is taken for failed may have been
 * taken back, or have succeeded, since.
 */
function failureIn({ intent, operations, effects }: Rows, told: Failure | undefined) {
  const isOpen = operations.some(({ state }) => state === 'signed' || state === 'mined')
  // What waits for the bridge is told before it is over.
  if (told?.code === 'BRIDGE_TIMEOUT') return told
  if (isOpen) return undefined
  const failed = intent.plan?.steps.find(
    (step) => !completionOf(step, effects) && failedOperation(step, operations),
  )
  const row = failed && failedOperation(failed, operations)
  if (failed && row) return toFailure(failed, row)
  const isBegun = operations.some(
    ({ sequence, state }) => sequence === told?.step && isSigned(state),
  )
  return isBegun ? undefined : told
}

const failedOperation = ({ sequence }: Step, operations: Operation[]) =>
  operations.find((row) => row.sequence === sequence && outcomeOf(row).kind === 'failed')

function toFailure({ sequence: step }: Step, row: Operation): Failure {
  const outcome = outcomeOf(row)
  const { code, message } = outcome.kind === 'failed' ? outcome : { code: undefined, message: '' }
  return { code: code ?? failureCodes[row.kind], message, step }
}

/** Decided when nothing of the intent can be signed any more. */
async function costsNothing(trx: Db, { id, error }: Intent): Promise<boolean> {
  if (error === null || !freeFailures.includes(error.code)) return false
  const operations = await readOperations(trx, id)
  return operations.every(({ state }) => !isSigned(state))
}

/** The error with where the money of the intent is, as the chains' logs say. */
function toIntentError({ plan }: Intent, failure: Failure, effects: Effect[]): IntentError {
  const error = { ...failure, code: toFailureCode(failure.code) }
  const step = plan?.steps.find(({ sequence }) => sequence === failure.step)
  if (!plan || !step) return error
  return { ...error, funds: locateFunds(plan, step, effects) }
}
