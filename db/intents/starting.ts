import { namedColumns } from '../client/columns.js'
import { runPrepared } from '../client/prepared.js'
import { fundingColumns, type StoredFunding } from './fundings.js'
import { intentColumns, type StoredIntent } from './intents.js'
import type { Tier } from '../../domain/tiers.js'
import type { Db } from '../client/connect.js'

/** Duration of a claim: longer than a workflow start may take (`CALL_MS` of Temporal, 2 s). */
const LEASE_MS = 5_000

/** Condition of open intents. It matches the predicate of the index, because few intents are open. */
export const LIVE = `status not in ('completed', 'failed')`

/** A kind of row whose workflow is started after the row is stored. */
export type StartKind = 'intent' | 'funding'

/** An intent or a funding, with the tier of its account and the user of its wallet. */
export type Startable =
  { intent: StoredIntent; tier: Tier; userId: string } | { funding: StoredFunding; tier: Tier }

const columnsOf = { intent: intentColumns, funding: fundingColumns }

// An intent that ended without a workflow, such as a cancelled one, is not started.
const isFreeOf = (
  kind: StartKind,
) => `dispatched_at is null and ${kind === 'intent' ? LIVE : 'true'}
      and (dispatch_attempted_at is null or dispatch_attempted_at < clock_timestamp() - $2 * interval '1 millisecond')`

// Accounts take turns here. Temporal's fairness applies only after the start.
const claimOf = (kind: StartKind) => `
with claimed as (
  update ${kind} set dispatch_attempted_at = clock_timestamp() where id = any (array(
    select free.id from (
      select id, created_at, row_number() over (
        partition by account_id order by dispatch_attempted_at nulls first, created_at) as turn
      from ${kind} where ${isFreeOf(kind)}
      order by turn, created_at offset 0) waiting
    cross join lateral (
      select id from ${kind} where id = waiting.id and ${isFreeOf(kind)}
      for update skip locked) free
    order by waiting.turn, waiting.created_at limit $1))
  returning ${namedColumns(kind, columnsOf[kind])})
select c.*, a.plan as tier, w.user_id as "userId"
from claimed c join account a on a.id = c."accountId" join wallet w on w.id = c."walletId"`

const statements = {
  intent: { name: 'claim intents to start', text: claimOf('intent') },
  funding: { name: 'claim fundings to start', text: claimOf('funding') },
}

type StartRow = { tier: Tier; userId: string }

/**
 * Claims rows whose workflow is not started. Accounts take turns. Within an account, rows without an attempt come first,
 * then the oldest claims. The claim of a dead worker expires. Concurrent workers get different rows.
 */
export async function claimStarts(
  db: Db,
  kind: StartKind,
  { limit, leaseMs = LEASE_MS }: { limit: number; leaseMs?: number },
): Promise<Startable[]> {
  const rows = await runPrepared<StartRow>(db, statements[kind], [limit, leaseMs])
  return rows.map(({ tier, userId, ...row }) =>
    kind === 'intent'
      ? { intent: row as StoredIntent, tier, userId }
      : { funding: row as StoredFunding, tier },
  )
}
