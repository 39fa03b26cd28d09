import { runPrepared } from '../connection/prepared.js'
import type { Db } from '../connection/connect.js'
import type { Taken } from './signing.js'

/** After so many failures in a row an operation is tried once an hour only, and an operator is told. */
export const FAILURES_BEFORE_QUARANTINE = 10

/** What one more failure means for a row: 5 s until the next try, twice as long each time, then an hour. */
const oneMoreFailure = {
  count: 'carry_failures + 1',
  nextTry: `clock_timestamp() + interval '1 second' * case
    when carry_failures >= ${FAILURES_BEFORE_QUARANTINE} then 3600
    else least(600, 5 * 2 ^ least(carry_failures, 10)) end`,
}

/**
 * Gives back an operation that cannot be carried now, to be tried less and less often. `spentSince`: its key
 * is used on the chain, and this is the lowest block that may hold its log.
 */
export async function returnUncarried(
  db: Db,
  { id, taker }: Taken,
  { message, spentSince }: { message: string; spentSince?: bigint },
): Promise<void> {
  await db('operation')
    .where({ id, taken_by: taker })
    .whereIn('state', ['queued', 'signed'])
    .update({
      message,
      carry_failures: db.raw(oneMoreFailure.count),
      spent_since: spentSince?.toString() ?? null,
      taken_by: null,
      taken_until: db.raw(oneMoreFailure.nextTry),
    })
}

/**
 * What was signed and travelled in these transactions has to travel in others. A mint binds nobody: it is built anew
 * from a message that may have been attested anew. Mostly there is nothing: one statement finds that out.
 */
export async function dropCarriers(trx: Db, txIds: string[]): Promise<void> {
  await runPrepared(trx, { name: 'drop carriers', text: DROP_CARRIERS }, [txIds])
}

const isCarried = `tx_id = any ((select $1)::bigint[]) and state = 'signed'`
const DROP_CARRIERS = `
with deferred as (
  update operation set state = 'deferred', code = 'BRIDGE_TIMEOUT',
    message = 'The mint was reverted. It is tried again.',
    carry_failures = ${oneMoreFailure.count}, retry_after = ${oneMoreFailure.nextTry}
  where ${isCarried} and kind = 'mint')
update operation set tx_id = null, message = 'Its transaction was reverted. It is carried again.',
  carry_failures = ${oneMoreFailure.count}, taken_until = ${oneMoreFailure.nextTry}
where ${isCarried} and kind <> 'mint'`

/**
 * A stranger's log may stand above the reverted transaction that should have carried the operation. When
 * that log vanishes and the transaction does not, nothing carries the operation any more.
 */
export async function dropDeadCarriers(trx: Db, chainId: number): Promise<void> {
  const dead = await trx('operation as o')
    // One by one by their index, however many transactions there are.
    .joinRaw(
      `cross join lateral (
        select id from chain_tx where id = o.tx_id and state in ('mined', 'final') offset 0) as t`,
    )
    .where({ 'o.chain_id': chainId, 'o.state': 'signed' })
    .distinct()
    .pluck<bigint[]>('t.id')
  await dropCarriers(trx, dead.map(String))
}

/** What was refused or used on a fork may be otherwise on this one. */
export async function forgetFailures(trx: Db, chainId: number): Promise<void> {
  await trx('operation')
    .where({ chain_id: chainId })
    .whereIn('state', ['queued', 'deferred', 'signed'])
    .where((known) => void known.where('carry_failures', '>', 0).orWhereNotNull('spent_since'))
    .update({ carry_failures: 0, spent_since: null })
  // Nobody works on these: they only waited for their next try.
  await trx('operation')
    .where({ chain_id: chainId, state: 'signed', tx_id: null, taken_by: null })
    .update({ taken_until: null })
}
