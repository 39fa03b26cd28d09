import { crashPoint } from '../crashPoints.js'
import { readEffects } from '../db/lanes/effects.js'
import { lockIntent, type Intent } from '../db/intents/intents.js'
import { setCompleted, setFailed } from '../db/intents/status.js'
import { refund } from '../db/tenants/metering.js'
import { expireOperation, readOperations } from '../db/lanes/operations.js'
import { releaseUnsigned } from '../db/lanes/reservations.js'
import { ServiceError } from '../domain/errors.js'
import {
  completionOf,
  isTerminal,
  type Effect,
  type ExecutionPlan,
  type IntentError,
  type IntentStatus,
} from '../domain/intent.js'
import { toFailureCode } from '../domain/failures.js'
import { locateFunds } from '../domain/funds.js'
import { isSigned } from '../domain/operation.js'
import { freeFailures } from '../domain/prices.js'
import { planPending, type PlanningTools } from '../planning/intents.js'
import { finalFailure } from './failures.js'
import type { Db } from '../db/connection/connect.js'

/** Plans an intent for which no chain answered when it was created. Nothing of it is in flight yet. */
export async function planIntent(
  tools: PlanningTools,
  { intentId }: { intentId: string },
): Promise<ExecutionPlan> {
  try {
    return await planPending(tools, intentId)
  } catch (error) {
    const over = ['INSUFFICIENT_FUNDS', 'INVALID_REQUEST', 'CANCELLED']
    if (error instanceof ServiceError && over.includes(error.code)) {
      throw finalFailure(error.code, error.message)
    }
    throw error
  }
}

export type FinalizeInput = {
  intentId: string
  /** Why the workflow ends early; absent when all its steps returned. */
  failure?: { code: string; message: string; step?: number }
}

/**
 * Writes the end of an intent. What it says is decided from the operations' rows under the intent's
 * lock, not from what the workflow believes. Gives the credits back when the end is free. Safe to repeat.
 */
export async function finalizeIntent(
  db: Db,
  input: FinalizeInput,
): Promise<{ status: IntentStatus }> {
  const { intent, isFree } = await db.transaction(async (trx) => {
    const intent = await writeEnd(trx, input)
    return { intent, isFree: await costsNothing(trx, intent) }
  })
  // After the commit: a cancel locks the account and then the intent, so that whoever holds an intent must not
  // wait for its account. A crash in between repeats the activity, which comes here again.
  if (isFree) await refund(db, intent.requestId)
  return { status: intent.status }
}

async function writeEnd(trx: Db, { intentId, failure }: FinalizeInput): Promise<Intent> {
  const intent = await lockIntent(trx, intentId)
  if (isTerminal(intent.status)) return intent
  const effects = await readEffects(trx, intentId)
  if (intent.plan?.steps.every((step) => completionOf(step, effects))) {
    await setCompleted(trx, intentId)
    crashPoint('activity: before the end is stored')
    return { ...intent, status: 'completed' }
  }
  if (!failure) throw new Error('All steps returned, but not all are in the rows.')
  for (const { id } of await readOperations(trx, intentId)) await expireOperation(trx, id)
  await releaseUnsigned(trx, intentId)
  const error = toIntentError(intent, failure, effects)
  await setFailed(trx, intentId, error)
  return { ...intent, status: 'failed', error }
}

/** Decided when nothing of the intent can be signed any more. */
async function costsNothing(trx: Db, { id, error }: Intent): Promise<boolean> {
  if (error === null || !freeFailures.includes(error.code)) return false
  const operations = await readOperations(trx, id)
  return operations.every(({ state }) => !isSigned(state))
}

/** The error with where the money of the intent is, as the chains' logs say. */
function toIntentError(
  { plan }: Intent,
  failure: NonNullable<FinalizeInput['failure']>,
  effects: Effect[],
): IntentError {
  const error = { ...failure, code: toFailureCode(failure.code) }
  const step = plan?.steps.find(({ sequence }) => sequence === failure.step)
  if (!plan || !step) return error
  return { ...error, funds: locateFunds(plan, step, effects) }
}
