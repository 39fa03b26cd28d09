import { runPrepared } from '../connection/prepared.js'
import { UNFINISHED } from '../intents/sweeping.js'
import { concerns } from './stops.js'
import type { Db } from '../connection/connect.js'
import type { OperationKind, OperationState } from '../../domain/operation.js'

const MARKS = {
  name: 'marks of operations',
  text: `
    select op.id, concat_ws(' ', op.state, op.waits_for, op.tx_id is null, op.spent_since, b.burned_at,
      b.event_nonce, (select min(s.id) from stop s where s.until is null and ${concerns})) as mark
    from operation op left join burn b on b.operation_id = op.id
    where op.id = any ($1)`,
}

/**
 * What the rows of operations say that somebody may wait for, as a short text: another text, another state, another
 * reason to wait, an operator's stop that came or went, or a burn that is in a block or attested.
 */
export async function readMarks(db: Db, ids: string[]): Promise<Map<string, string>> {
  const rows = await runPrepared<{ id: string; mark: string }>(db, MARKS, [ids])
  return new Map(rows.map(({ id, mark }) => [id, mark]))
}

/** The operation that an intent or a funding has ordered last; `attested`: its burn has got a message. */
export type LatestOperation = {
  id: string
  intentId: string
  kind: OperationKind
  state: OperationState
  attested: boolean
}

/** The last operation of each intent and funding that is not over, where it was ordered a while ago. */
export async function readLatestOperations(db: Db, olderThanMs: number) {
  const { rows } = await db.raw<{ rows: LatestOperation[] }>(
    `select distinct on (op.intent_id) op.id, op.intent_id as "intentId", op.kind, op.state,
      b.event_nonce is not null as attested
    from operation op left join burn b on b.operation_id = op.id
    where op.intent_id in (${UNFINISHED} union select id from funding where completed_at is null)
      and op.created_at < clock_timestamp() - ? * interval '1 millisecond'
    order by op.intent_id, op.sequence desc, op.created_at desc`,
    [olderThanMs],
  )
  return rows
}
