import type { Db } from '../connection/connect.js'
import type { Delay, ExecutionPlan, IntentError, IntentStatus } from '../../domain/intent.js'

export async function setPlan(trx: Db, id: string, plan: ExecutionPlan): Promise<void> {
  await updateOne(trx, id, ['pending'], { status: 'planning', plan: JSON.stringify(plan) })
}

/** From the first operation on the intent reads `executing`. A later call changes nothing. */
export async function setExecuting(trx: Db, id: string): Promise<void> {
  await trx('intent').where({ id, status: 'planning' }).update({ status: 'executing' })
}

export async function setCompleted(trx: Db, id: string): Promise<void> {
  await updateOne(trx, id, ['planning', 'executing'], {
    status: 'completed',
    completed_at: trx.raw('clock_timestamp()'),
  })
}

export async function setFailed(trx: Db, id: string, error: IntentError): Promise<void> {
  await updateOne(trx, id, ['pending', 'planning', 'executing'], {
    status: 'failed',
    error: JSON.stringify(error),
  })
}

async function updateOne(
  trx: Db,
  id: string,
  from: IntentStatus[],
  values: Record<string, unknown>,
): Promise<void> {
  const changed = await trx('intent').where({ id }).whereIn('status', from).update(values)
  if (changed !== 1) throw new Error(`Intent ${id} is none of ${from.join(', ')}.`)
}

/** Says that the workflow of an intent or a funding was started. */
export async function setDispatched(db: Db, id: string): Promise<void> {
  await db.raw('select mark_dispatched(?)', [id])
}

/** Says why a running intent is late, once: what was told first stays. Null: it is late no longer. */
export async function setDelay(db: Db, id: string, delay: Delay | null): Promise<void> {
  const running = db('intent').where({ id }).whereNotIn('status', ['completed', 'failed'])
  if (delay) await running.whereNull('delay').update({ delay: JSON.stringify(delay) })
  else await running.whereNotNull('delay').update({ delay: null })
}

/** Says that money came out of the bridge after its intent had been marked as failed. */
export async function setRecovery(
  db: Db,
  id: string,
  recovery: Omit<NonNullable<IntentError['recovery']>, 'at'>,
): Promise<void> {
  const { chain, asset, amount } = recovery
  await db('intent')
    .where({ id, status: 'failed' })
    .whereRaw(`error ->> 'code' = 'BRIDGE_TIMEOUT' and error -> 'recovery' is null`)
    .update({
      delay: null,
      error: db.raw('(error::jsonb || ?::jsonb)::json', [
        JSON.stringify({
          recovery: { ...recovery, at: new Date().toISOString() },
          funds: [{ chain, asset, amount }],
        }),
      ]),
    })
}
