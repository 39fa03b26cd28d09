import { runPrepared, type Statement } from '../../db/client/prepared.js'
import type { Db } from '../../db/client/connect.js'

/** The newest bytes of a nonce, and the ids of their unmined operations. `isFirst`: they have never left before. */
type Leaving = { raw: string; operations: string[]; isFirst: boolean }

/**
 * Marks bytes as leaving, before the caller reads pauses. A pause that the caller does not see is committed after the
 * mark, so the report of that pause counts these bytes as sent. No lock is needed.
 *
 * @returns Undefined when newer bytes of the nonce exist.
 */
export async function beginLeaving(db: Db, hash: string): Promise<Leaving | undefined> {
  const [leaving] = await runPrepared<Leaving>(db, leavingStatement, [hash])
  return leaving
}

const leavingStatement: Statement = {
  name: 'begin leaving',
  text: `with newest as (
      select s.hash, s.raw, s.leaving_at is null as first,
        array(select op.id from operation op where op.tx_id = s.tx_id and op.state = 'signed') as operations
      from chain_tx_send s where s.hash = (select $1::text)
        and not exists (select from chain_tx_send x where x.tx_id = s.tx_id and x.n > s.n)
    ), marked as (
      update chain_tx_send s set leaving_at = clock_timestamp() from newest n where s.hash = n.hash and n.first)
    select raw, operations, first as "isFirst" from newest`,
}

/** Removes the mark of bytes that were not sent after all. */
export async function cancelLeaving(db: Db, hash: string): Promise<void> {
  await db('chain_tx_send').where({ hash }).update({ leaving_at: null })
}
