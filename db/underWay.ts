import { concerns, type PauseTarget } from './pauses.js'
import type { Db } from './client/connect.js'

/** What a pause or freeze finds under way in its scope. */
export type UnderWay = {
  /** Operations under the lease of a signer. What it still signs is stored and not sent. */
  signing: number
  /** Transactions that are stored and have never left. They are not sent. */
  unsent: number
  /** Transactions that have left and are in no block. They may still be mined. */
  sent: number
}

/**
 * Counts what is under way in the scope of a pause. Read after `pauseWork`, `sent` includes every transaction that a
 * relayer is just sending: it marks bytes as leaving before it asks whether they may.
 */
export async function readUnderWay(db: Db, target: PauseTarget): Promise<UnderWay> {
  const { rows } = await db.raw<{ rows: UnderWay[] }>(UNDER_WAY, target)
  const [row] = rows
  if (!row) throw new Error('The count returned no row.')
  return row
}

const UNDER_WAY = `
with s as (select cast(:scope as text) as scope, cast(:subject as text) as subject),
transactions as (
  select exists (select from chain_tx_send x where x.tx_id = t.id and x.leaving_at is not null) as "hasLeft"
  from chain_tx t, s where t.state = 'open' and (s.scope = 'deployment'
    or s.scope = 'chain' and s.subject = t.chain_id::text
    or exists (select from operation op where op.tx_id = t.id and op.state = 'signed' and ${concerns})))
select (select count(*)::int from operation op, s where op.state in ('queued', 'signed')
    and op.lease_owner is not null and op.leased_until > clock_timestamp() and ${concerns}) as signing,
  (select count(*)::int from transactions where not "hasLeft") as unsent,
  (select count(*)::int from transactions where "hasLeft") as sent`
