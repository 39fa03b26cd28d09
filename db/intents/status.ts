import { runPrepared, type Statement } from '../client/prepared.js'
import type { Db } from '../client/connect.js'
import type { IntentDelay, StepPlan, IntentFailure } from '../../domain/intent/intent.js'

export async function setPlan(trx: Db, id: string, plan: StepPlan): Promise<void> {
  await move(trx, id, { event: 'planned', value: plan })
}

/** The first operation changes the status to `executing`. */
export async function setExecuting(trx: Db, id: string): Promise<void> {
  await move(trx, id, { event: 'executing' })
}

const completeStatement: Statement = {
  name: 'complete intent',
  // Takes no lock on a completed intent.
  text: `select case when i.status = 'completed' then true else complete_intent(i.id) end as "isCompleted"
    from intent i where i.id = $1`,
}

/** Completes an intent whose steps have all succeeded. True when it is completed, now or before. */
export async function completeWhenDone(db: Db, id: string): Promise<boolean> {
  const [row] = await runPrepared<{ isCompleted: boolean }>(db, completeStatement, [id])
  return row?.isCompleted === true
}

export async function setFailed(trx: Db, id: string, error: IntentFailure): Promise<void> {
  await move(trx, id, { event: 'failed', value: error })
}

type Transition =
  | { event: 'planned'; value: StepPlan }
  | { event: 'failed'; value: IntentFailure }
  | { event: 'executing'; value?: never }

/** Changes the status and emits the event. Throws when `intent_edge` does not allow the transition. */
async function move(trx: Db, id: string, { event, value }: Transition): Promise<void> {
  const json = value === undefined ? null : JSON.stringify(value)
  await trx.raw('select advance_intent(?, ?, ?)', [id, event, json])
}

/**
 * Records that the workflow of an intent or funding was started, unless its first order just did. A crash may lose the
 * latest records: those workflows are started again, which is a no-op.
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
 * Records that the workflow of a reopened intent was restarted.
 *
 * @param recoverAt - From `findReopened`. An intent that was reopened again meanwhile keeps its mark.
 */
export async function setRecovered(db: Db, id: string, recoverAt: string): Promise<void> {
  await db('intent')
    .where({ id, recover_at: recoverAt })
    .update({ recover_at: null, dispatched_at: db.raw('clock_timestamp()') })
}

/** Records why a running intent is late, once per message. Null: it is on time again. */
export async function setDelay(db: Db, id: string, delay: IntentDelay | null): Promise<void> {
  const values = delay ? ['delayed', JSON.stringify(delay)] : ['delay_over', null]
  await db.raw('select annotate_intent(?, ?, ?)', [id, ...values])
}

/** Whether an intent has completed or failed. */
export async function hasEnded(db: Db, id: string): Promise<boolean> {
  const ended = db('intent').where({ id }).whereIn('status', ['completed', 'failed'])
  return (await ended.first<{ id: string } | undefined>('id')) !== undefined
}

/** Records that bridged money arrived after its intent had failed. */
export async function setRecovery(
  db: Db,
  id: string,
  recovery: Omit<NonNullable<IntentFailure['recovery']>, 'at'>,
): Promise<void> {
  const { chain, asset, amount, txHash } = recovery
  const recovered: Omit<IntentFailure, 'code' | 'step'> = {
    message: `The bridge took too long, but ${amount} ${asset} arrived on ${chain} in ${txHash}. The money is in the wallet and was not used further.`,
    recovery: { ...recovery, at: new Date().toISOString() },
    funds: [{ chain, asset, amount }],
  }
  await db.raw('select annotate_intent(?, ?, ?)', [id, 'recovered', JSON.stringify(recovered)])
}
