import { runPrepared } from '../../db/client/prepared.js'
import type { Db } from '../../db/client/connect.js'
import type { ClaimedOperation } from './signing.js'

/** After this many consecutive failures an operation is retried hourly only, and an operator is notified. */
export const FAILURES_BEFORE_QUARANTINE = 10
/** After this many reverted transactions an operation is not included again: each costs gas although it was simulated. */
export const MOST_REVERTS = 10

/** The columns of a further failure: a retry after 5 s, then twice as long each time, then hourly. */
const oneMoreFailure = {
  count: 'inclusion_failures + 1',
  nextTry: `clock_timestamp() + interval '1 second' * case
    when inclusion_failures >= ${FAILURES_BEFORE_QUARANTINE} then 3600
    else least(600, 5 * 2 ^ least(inclusion_failures, 10)) end`,
}

/**
 * Returns an operation that cannot be included now, with an increasing delay. `spentSince`: its key is used on the
 * chain, and this is the lowest block that may hold its log.
 */
export async function deferResubmission(
  db: Db,
  { id, leaseOwner }: ClaimedOperation,
  { message, spentSince }: { message: string; spentSince?: bigint },
): Promise<void> {
  await db('operation')
    .where({ id, lease_owner: leaseOwner })
    .whereIn('state', ['queued', 'signed'])
    .update({
      message,
      inclusion_failures: db.raw(oneMoreFailure.count),
      spent_since: spentSince?.toString() ?? null,
      lease_owner: null,
      leased_until: db.raw(oneMoreFailure.nextTry),
    })
}

/**
 * Detaches the operations of these transactions, so that they are resubmitted in others. Mints are rebuilt from their
 * current message, which may have a new attestation. Usually there are none, which one statement finds out.
 */
export async function detachOperations(trx: Db, txIds: string[]): Promise<void> {
  await runPrepared(trx, { name: 'detach operations', text: DETACH_OPERATIONS }, [txIds, 0])
}

/** The same for transactions in a block, which have cost gas. */
export async function detachReverted(trx: Db, txIds: string[]): Promise<void> {
  await runPrepared(trx, { name: 'detach operations', text: DETACH_OPERATIONS }, [txIds, 1])
}

const isIncluded = `tx_id = any ((select $1)::bigint[]) and state = 'signed'`
const DETACH_OPERATIONS = `
with deferred as (
  update operation set state = 'deferred', code = 'BRIDGE_TIMEOUT',
    message = 'The mint was reverted. It is tried again.',
    inclusion_failures = ${oneMoreFailure.count}, retry_after = ${oneMoreFailure.nextTry}
  where ${isIncluded} and kind = 'mint')
update operation set tx_id = null, message = 'Its transaction was reverted. It is included again.',
  reverts = reverts + $2::int,
  inclusion_failures = ${oneMoreFailure.count}, leased_until = ${oneMoreFailure.nextTry}
where ${isIncluded} and kind <> 'mint'`

/**
 * Detaches the operations of a transaction that an empty transfer replaces because of a freeze. None of them has failed:
 * those that are not frozen are included again at once.
 */
export async function withdrawOperations(trx: Db, txId: bigint): Promise<void> {
  const message = 'Its transaction was withdrawn because of a freeze. It is included again.'
  const included = { tx_id: txId.toString(), state: 'signed' }
  const at = trx.raw('clock_timestamp()')
  await trx('operation')
    .where({ ...included, kind: 'mint' })
    .update({ state: 'deferred', code: 'BRIDGE_TIMEOUT', message, retry_after: at })
  await trx('operation').where(included).update({ tx_id: null, message, leased_until: null })
}

/**
 * Detaches operations of reverted transactions without an outcome. This happens when a foreign log of the operation,
 * above the reverted bundle, disappears in a reorg that keeps the bundle.
 */
export async function detachDeadTransactions(trx: Db, chainId: number): Promise<void> {
  const dead = await trx('operation as o')
    // One lookup per index entry, however many transactions exist.
    .joinRaw(
      `cross join lateral (
        select id from chain_tx where id = o.tx_id and state in ('mined', 'final') offset 0) as t`,
    )
    .where({ 'o.chain_id': chainId, 'o.state': 'signed' })
    .distinct()
    .pluck<bigint[]>('t.id')
  await detachOperations(trx, dead.map(String))
}

/** Resets failures: a rejection or a used key on a fork may be different on this one. */
export async function forgetFailures(trx: Db, chainId: number): Promise<void> {
  await trx.raw('select forget_spent_keys(?)', [chainId])
  await trx('operation')
    .where({ chain_id: chainId })
    .whereIn('state', ['queued', 'deferred', 'signed'])
    .where('inclusion_failures', '>', 0)
    .update({ inclusion_failures: 0 })
  // No signer holds these: they only wait for their next attempt.
  await trx('operation')
    .where({ chain_id: chainId, state: 'signed', tx_id: null, lease_owner: null })
    .update({ leased_until: null })
}
