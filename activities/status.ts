import { faultPoint } from '../runtime/faultPoints.js'
import { readEffects } from '../db/intents/stepEffects.js'
import { lockIntent, type StoredIntent } from '../db/intents/intents.js'
import { completeWhenDone, setFailed } from '../db/intents/status.js'
import { refund } from '../db/usage/metering.js'
import { expireOperation, readOperations, type Operation } from '../operations/operations.js'
import { releaseUnsigned } from '../db/intents/reservations.js'
import { ServiceError } from '../domain/errors.js'
import {
  isTerminal,
  type StepPlan,
  type IntentFailure,
  type LifecycleStatus,
  type PlanStep,
} from '../domain/intent/intent.js'
import { completionOf, type Effect } from '../domain/intent/results.js'
import { toFailureCode } from '../domain/intent/failures.js'
import { currentFunds, locateFunds } from '../domain/intent/funds.js'
import { failureCodes, isSigned } from '../domain/intent/operation.js'
import { outcomeOf } from '../operations/outcome.js'
import { freeFailures } from '../domain/creditCosts.js'
import { faultIn, isFaultOf } from '../domain/simulate.js'
import { planPending, type PlanningTools } from '../planning/intents.js'
import { finalFailure } from './failures.js'
import type { Db } from '../db/client/connect.js'

/**
 * Plans an intent that had no plan at creation because no chain answered. It has no operations yet. An intent that
 * cannot be planned ends here, so that its row alone states the failure.
 */
export async function planIntent(
  tools: PlanningTools,
  { intentId }: { intentId: string },
): Promise<StepPlan> {
  try {
    return await planPending(tools, intentId)
  } catch (error) {
    const finalCodes = ['INSUFFICIENT_FUNDS', 'INVALID_REQUEST', 'CANCELLED']
    if (error instanceof ServiceError && finalCodes.includes(error.code)) {
      const { code, message } = error
      await finalizeIntent(tools.db, { intentId, failure: { code, message } })
      throw finalFailure(code, message)
    }
    throw error
  }
}

export type FinalizeInput = {
  intentId: string
  /** Why the intent ends early; absent when all its steps returned. */
  failure?: Failure
}
/** `timedOut`: the Temporal server reported a timeout. An operator cannot forge it. */
export type Failure = { code: string; message: string; step?: number; timedOut?: true }

/**
 * Writes the final status that a workflow reports, as `finalizeIntent` does. Operators can complete and fail
 * activities by hand, so a reported failure counts only where the database confirms it.
 *
 * @returns The status and, for a failed intent, its error code.
 */
export async function finalizeReported(
  db: Db,
  { intentId, failure }: FinalizeInput,
): Promise<{ status: LifecycleStatus; code?: string }> {
  const isConfirmed = failure !== undefined && (await isConfirmedByRows(db, intentId, failure))
  const { status, error } = await conclude(db, { intentId, ...(isConfirmed && { failure }) })
  return { status, ...(error && { code: error.code }) }
}

/** Confirms failures without an operation's row: a planning timeout, and a failure that the caller simulates. */
async function isConfirmedByRows(db: Db, intentId: string, { code, step, timedOut }: Failure) {
  const { plan, metadata } = await db.transaction((trx) => lockIntent(trx, intentId))
  if (!plan) return timedOut === true && step === undefined
  const failed = plan.steps.find(({ sequence }) => sequence === step)
  const fault = faultIn(metadata)
  return failed !== undefined && fault === code && isFaultOf(fault, failed)
}

/**
 * Writes the final status of an intent. Decides it from the operations' rows under the intent's lock, and this is the
 * only place that does. Refunds the credits of a free failure. Safe to repeat.
 *
 * @returns The intent's status; `executing` when the rows support no final status, because a reorg has changed them
 *   since the workflow read them.
 */
export async function finalizeIntent(
  db: Db,
  input: FinalizeInput,
): Promise<{ status: LifecycleStatus }> {
  const { status } = await conclude(db, input)
  return { status }
}

/** Completes an intent whose rows show all steps as done. Safe to repeat. Returns whether it is completed. */
export async function completeIntent(db: Db, intentId: string): Promise<boolean> {
  faultPoint('activity: before the end is stored')
  return completeWhenDone(db, intentId)
}

async function conclude(
  db: Db,
  input: FinalizeInput,
): Promise<Pick<StoredIntent, 'status' | 'error'>> {
  if (await completeIntent(db, input.intentId)) return { status: 'completed', error: null }
  const { intent, isFree } = await db.transaction(async (trx) => {
    const intent = await writeEnd(trx, input)
    return { intent, isFree: await costsNothing(trx, intent) }
  })
  // After the commit: a cancel locks the account and then the intent. A transaction that holds an intent must not
  // wait for its account. After a crash in between Temporal retries the activity, which refunds then.
  if (isFree) await refund(db, intent.requestId)
  return intent
}

async function writeEnd(trx: Db, { intentId, failure }: FinalizeInput): Promise<StoredIntent> {
  const intent = await lockIntent(trx, intentId)
  if (isTerminal(intent.status)) return intent
  // The relayer may have indexed its last step in the meantime.
  if (await completeWhenDone(trx, intentId)) return { ...intent, status: 'completed' }
  const effects = await readEffects(trx, intentId)
  const operations = await readOperations(trx, intentId)
  if (!failureIn({ intent, operations, effects }, failure)) return intent
  for (const { id } of operations) await expireOperation(trx, id)
  // Operations signed before they could expire continue.
  const left = await readOperations(trx, intentId)
  const found = failureIn({ intent, operations: left, effects }, failure)
  if (!found) return intent
  await releaseUnsigned(trx, intentId)
  const error = toIntentError(intent, found, effects)
  await setFailed(trx, intentId, error)
  return { ...intent, status: 'failed', error }
}

type Rows = { intent: StoredIntent; operations: Operation[]; effects: Effect[] }

/**
 * Why an intent has failed: its first step whose row failed, else the reported failure of a step that was never
 * signed. Undefined while an operation is open: a reported failure may be outdated after a reorg or a success.
 */
function failureIn({ intent, operations, effects }: Rows, reported: Failure | undefined) {
  const isOpen = operations.some(({ state }) => state === 'signed' || state === 'mined')
  // A late bridge is reported while its burn is still open, unless its money has arrived in the meantime.
  if (reported?.code === 'BRIDGE_TIMEOUT' && !hasArrived(intent, effects, reported)) return reported
  if (isOpen) return undefined
  const failed = intent.plan?.steps.find(
    (step) => !completionOf(step, effects) && failedOperation(step, operations),
  )
  const row = failed && failedOperation(failed, operations)
  if (failed && row) return toFailure(failed, row)
  if (isCancelled({ intent, operations, effects })) return cancellation
  const isBegun = operations.some(
    ({ sequence, state }) => sequence === reported?.step && isSigned(state),
  )
  return isBegun ? undefined : reported
}

function hasArrived({ plan }: StoredIntent, effects: Effect[], { step: at }: Failure): boolean {
  const late = plan?.steps.find(({ sequence }) => sequence === at)
  return late !== undefined && completionOf(late, effects) !== undefined
}

/** A cancelled intent that a reorg reopened ends again, once its money has left the bridge. */
const isCancelled = ({ intent: { plan, cancelledAt }, operations, effects }: Rows) =>
  cancelledAt !== null &&
  operations.every(
    ({ kind, sequence }) =>
      kind !== 'bridge' ||
      plan?.steps.some((step) => step.sequence === sequence && completionOf(step, effects)),
  )

const cancellation = {
  code: 'CANCELLED',
  message: 'The intent was cancelled. Its completed steps stand, and no other step was sent.',
}

const failedOperation = ({ sequence }: PlanStep, operations: Operation[]) =>
  operations.find((row) => row.sequence === sequence && outcomeOf(row).kind === 'failed')

function toFailure({ sequence: step }: PlanStep, row: Operation): Failure {
  const outcome = outcomeOf(row)
  const { code, message } = outcome.kind === 'failed' ? outcome : { code: undefined, message: '' }
  return { code: code ?? failureCodes[row.kind], message, step }
}

/** Whether the failure is free. Call it only when no operation of the intent can be signed any more. */
async function costsNothing(trx: Db, { id, error }: StoredIntent): Promise<boolean> {
  if (error === null || !freeFailures.includes(error.code)) return false
  const operations = await readOperations(trx, id)
  return operations.every(({ state }) => !isSigned(state))
}

/** The error with the location of the intent's money, according to the chains' logs. */
function toIntentError({ plan }: StoredIntent, failure: Failure, effects: Effect[]): IntentFailure {
  const error = { ...failure, code: toFailureCode(failure.code) }
  const step = plan?.steps.find(({ sequence }) => sequence === failure.step)
  if (plan && failure.code === 'CANCELLED') return { ...error, funds: currentFunds(plan, effects) }
  if (!plan || !step) return error
  return { ...error, funds: locateFunds(plan, step, effects) }
}
