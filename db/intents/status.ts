import { runPrepared, type Statement } from '../connection/prepared.js'
import type { Db } from '../connection/connect.js'
import type { Delay, ExecutionPlan, IntentError } from '../../domain/intent.js'

export async function setPlan(trx: Db, id: string, plan: ExecutionPlan): Promise<void> {
  await move(trx, id, { event: 'planned', value: plan })
}

/** From the first operation on the intent reads `executing`. */
export async function setExecuting(trx: Db, id: string): Promise<void> {
  await move(trx, id, { event: 'executing' })
}

const completeStatement: Statement = {
  name: 'complete intent',
  // Of one that is completed no lock is taken.
  text: `select case when i.status = 'completed' then true else complete_intent(i.id) end as "isCompleted"
    from intent i where i.id = $1`,
}

/** Completes an intent whose steps are all done by their rows. True when it is completed, by this call or before. */
export async function completeWhenDone(db: Db, id: string): Promise<boolean> {
  const [row] = await runPrepared<{ isCompleted: boolean }>(db, completeStatement, [id])
  return row?.isCompleted === true
}

export async function setFailed(trx: Db, id: string, error: IntentError): Promise<void> {
  await move(trx, id, { event: 'failed', value: error })
}

type Move =
  | { event: 'planned'; value: ExecutionPlan }
  | { event: 'failed'; value: IntentError }
  | { event: 'executing'; value?: never }

/** Changes the status and tells it in one statement. Throws where `intent_edge` names no way from the present one. */
async function move(trx: Db, id: string, { event, value }: Move): Promise<void> {
  const json = value === undefined ? null : JSON.stringify(value)
  await trx.raw('select move_intent(?, ?, ?)', [id, event, json])
}

/**
 * Notes that the workflow of an intent or a funding was started, unless its first order has just noted it. A crash may
 * lose the latest notes: those workflows are started once more, and found.
 */
export async function setDispatched(db: Db, id: string): Promise<void> {
  await runPrepared(db, dispatchedStatement, [id])
}

const dispatchedStatement: Statement = {
  name: 'set dispatched',
  text: `with unsynced as materialized (select set_config('synchronous_commit', 'off', true) as mode),
    started as (
      update intent set dispatched_at = clock_timestamp() from unsynced
      where id = $1 and (dispatched_at is null or dispatched_at < clock_timestamp() - interval '10 seconds'))
    update funding set dispatched_at = clock_timestamp() from unsynced where id = $1`,
}

/**
 * Notes that the workflow of a reopened intent was started again.
 *
 * @param recoverAt - As `findReopened` gave it: one that was reopened once more meanwhile keeps its mark.
 */
export async function setRecovered(db: Db, id: string, recoverAt: string): Promise<void> {
  await db('intent')
    .where({ id, recover_at: recoverAt })
    .update({ recover_at: null, dispatched_at: db.raw('clock_timestamp()') })
}

/** Writes why a running intent is late, once: what was written first stays. Null: it is late no longer. */
export async function setDelay(db: Db, id: string, delay: Delay | null): Promise<void> {
  const values = delay ? ['delayed', JSON.stringify(delay)] : ['delay_over', null]
  await db.raw('select annotate_intent(?, ?, ?)', [id, ...values])
}

/** Writes that money came out of the bridge after its intent had been marked as failed. */
export async function setRecovery(
  db: Db,
  id: string,
  recovery: Omit<NonNullable<IntentError['recovery']>, 'at'>,
): Promise<void> {
  const { chain, asset, amount, txHash } = recovery
  const recovered: Omit<IntentError, 'code' | 'step'> = {
    message: `It took too long, but ${amount} ${asset} came out of the bridge on ${chain} in ${txHash}. They are in the wallet, and were not used any further.`,
    recovery: { ...recovery, at: new Date().toISOString() },
    funds: [{ chain, asset, amount }],
  }
  await db.raw('select annotate_intent(?, ?, ?)', [id, 'recovered', JSON.stringify(recovered)])
}
