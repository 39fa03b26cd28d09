import { runPrepared } from '../connection/prepared.js'
import { UNFINISHED } from '../intents/sweeping.js'
import { concerns } from './stops.js'
import type { Db } from '../connection/connect.js'
import type { OperationKind, OperationState } from '../../domain/operation.js'

/**
 * What an operation's row says that somebody may wait for. `holds` is empty in the usual course, else a short text
 * that is another one for another reason to wait, an operator's stop that came or went, or a burn that is attested.
 */
export type Mark = { state: OperationState; holds: string }

const MARKS = {
  name: 'marks of operations',
  text: `
    select op.id, op.state, concat_ws(' ', op.waits_for, op.spent_since,
      case when op.state = 'signed' and op.tx_id is null then 'resent' end, b.event_nonce,
      (select min(s.id) from stop s where s.until is null and ${concerns})) as holds
    from operation op left join burn b on b.operation_id = op.id
    -- A list that the planner does not know, or it would plan anew for each call.
    where op.id = any ((select $1)::text[])`,
}

/** The marks of those that are there, by id. */
export async function readMarks(db: Db, ids: string[]): Promise<Map<string, Mark>> {
  const rows = await runPrepared<Mark & { id: string }>(db, MARKS, [ids])
  return new Map(rows.map(({ id, ...mark }) => [id, mark]))
}

/** A step that waits for nothing any more; `activity` is its name in the workflow of its intent or funding. */
export type Overslept = { workflowId: string; activity: OperationKind | 'awaitAttestation' }

const isAgo = (column: string) =>
  `${column} < clock_timestamp() - :forMs * interval '1 millisecond'`

/**
 * Of intents and fundings that are not over, the last step where that has nothing to wait for since a while: its
 * operation is over or may be tried again, its burn is attested, or a step before it has failed after all. Some of
 * them, whichever: one that cannot be woken keeps no other one from it.
 *
 * A burn was waited for by the step that burns first, and soon by another one, and a funding that has failed is never
 * written to be over: of these only what has ended within minutes counts.
 */
const OVERSLEPT = `
with latest as (
  select distinct on (op.intent_id) op.intent_id, op.sequence, op.kind, op.state, op.ended_at, op.retry_after,
    b.attested_at, op.state in ('confirmed', 'final') and op.success as is_done
  from operation op left join burn b on b.operation_id = op.id
  where op.intent_id in (${UNFINISHED} union all select id from funding where completed_at is null)
  order by op.intent_id, op.sequence desc, op.created_at desc
)
select l.intent_id as "workflowId",
  case when l.attested_at is null then l.kind else 'awaitAttestation' end as activity
from latest l
where case
  when l.kind = 'bridge' and l.is_done then ${isAgo('coalesce(l.attested_at, l.ended_at)')}
    and (l.attested_at is not null or not ${isAgo("l.ended_at + interval '2 minutes'")})
  when l.state = 'deferred' then ${isAgo("l.retry_after + interval '2 minutes'")}
  when l.ended_at is not null then ${isAgo('l.ended_at')}
    and (l.kind <> 'fund' or l.is_done or not ${isAgo("l.ended_at + interval '2 minutes'")})
  else l.state = 'queued' and exists (
    select from operation before
    where before.intent_id = l.intent_id and before.sequence < l.sequence
      and (before.state in ('rejected', 'cancelled')
        or before.state in ('confirmed', 'final') and not before.success))
end
order by random() limit :limit`

export async function findOverslept(
  db: Db,
  { forMs, limit }: { forMs: number; limit: number },
): Promise<Overslept[]> {
  const { rows } = await db.raw<{ rows: Overslept[] }>(OVERSLEPT, { forMs, limit })
  return rows
}
