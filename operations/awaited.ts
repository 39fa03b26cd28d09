import type { Db } from '../db/client/connect.js'

/** `outcome` of the operation, or `attestation` of its burn. */
export type AwaitedWhat = 'outcome' | 'attestation'

/**
 * Marks an operation as awaited by its workflow, which waits for a signal without an activity.
 *
 * @returns False without a mark when the result exists. The database decides that race.
 */
export async function markAwaited(db: Db, id: string, what: AwaitedWhat): Promise<boolean> {
  const sql = 'select mark_awaited(?, ?) as "isMarked"'
  const { rows } = await db.raw<{ rows: { isMarked: boolean }[] }>(sql, [id, what])
  return rows[0]?.isMarked === true
}

/** A workflow to signal. `since` identifies the mark, exact to the microsecond. */
export type SettledWait = { operationId: string; workflowId: string; since: string }

/**
 * Claims some marks whose operations are settled. Other callers skip them for five seconds, then twice as long each
 * time, up to about ten minutes. The delay exceeds the time of a signal, so that only one is in flight.
 *
 * @param ids - Ids of operations. Null for any.
 */
export async function claimSettled(
  db: Db,
  ids: string[] | null,
  limit: number,
): Promise<SettledWait[]> {
  return (await db.raw<{ rows: SettledWait[] }>(CLAIM_SETTLED, { ids, limit })).rows
}

const CLAIM_SETTLED = `
update awaited a set attempts = a.attempts + 1,
  notify_at = clock_timestamp() + 5 * power(2, least(a.attempts, 7)) * interval '1 second'
where a.operation_id = any (array(
  select x.operation_id from awaited x join operation o on o.id = x.operation_id
    left join burn b on b.operation_id = x.operation_id
  where x.notify_at <= statement_timestamp()
    and (:ids::text[] is null or x.operation_id = any (:ids::text[]))
    and case x.what
      when 'outcome' then o.state not in ('queued', 'signed', 'mined')
      -- A burn that a reorg reverted is never attested.
      else b.event_nonce is not null or o.state in ('confirmed', 'final') and not o.success end
  order by x.since limit :limit for update of x skip locked))
returning a.operation_id as "operationId", a.workflow_id as "workflowId", a.since::text`

/** Removes marks whose workflows were signalled. A mark that was renewed since is kept. */
export async function deleteAwaited(db: Db, waits: SettledWait[]): Promise<void> {
  if (waits.length === 0) return
  const rows = waits.map(({ operationId, since }) => [operationId, since])
  const places = rows.map(() => '(?, ?::timestamptz)').join(', ')
  await db.raw(`delete from awaited where (operation_id, since) in (${places})`, rows.flat())
}
