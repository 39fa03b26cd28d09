import { operationColumns, type Operation } from './operations.js'
import { namedColumns } from '../connection/columns.js'
import { runPlannedOnce, runPrepared } from '../connection/prepared.js'
import { holdStops, isNotStopped } from './stops.js'
import type { Db } from '../connection/connect.js'
import type { Lane } from './signing.js'

/**
 * A lane lets only this many of its transactions wait: few are then stuck behind a slow one, and a node that has more
 * of one account may drop them (geth) or refuses them (reth).
 *
 * @see https://github.com/ethereum/go-ethereum/blob/master/core/txpool/legacypool/legacypool.go
 */
const OPEN_TRANSACTIONS = 16
/** Operations claimed at once: the most that one bundle carries. */
export const BUNDLE_SIZE = 20
/** A signer that was killed delays its operations by this much. */
const LEASE_SECONDS = 10
/** After this many leases that ended without a verdict a row is claimed alone, so that it harms no other. */
export const LEASES_IN_COMPANY = 2

/** Nobody works on the operation `op`, and no transaction carries it. */
const isTakable = `(op.state = 'queued' or op.state = 'signed' and op.tx_id is null)
      and (op.taken_until is null or op.taken_until < clock_timestamp())`

/** The intent `i` of `op` continues. Nothing stops a mint: what was burned comes out, whatever its intent has become. */
const isLive = `(op.kind = 'mint' or i.id is null
      or i.status not in ('completed', 'failed') and i.cancelled_at is null)`

const CLAIM = `
-- The lanes that serve now: of those that can pay and are prompt, else of the best there are, those with room.
with serving as (
  select sender, row_number() over (order by sender) - 1 as n, count(*) over () as total
  from (
    select l.sender, coalesce(t.open, 0) as open, rank() over (order by l.dry_since is not null,
      coalesce(t.since < clock_timestamp() - $4::double precision * interval '1 second', false)) as place
    from lane l left join (
      select sender, count(*) as open, min(opened_at) as since
      from chain_tx where chain_id = $1 and state = 'open' group by sender) t using (sender)
    where l.chain_id = $1 and l.purpose = 'operations') lanes
  where place = 1 and open < ${OPEN_TRANSACTIONS}
), open as materialized (
  select op.id, op.account_id, op.wallet_id, op.priority, op.created_at, ${isTakable} as takable,
    op.state = 'signed' or op.lost_leases >= ${LEASES_IN_COMPANY} as alone,
    coalesce(op.taken_by is not null and op.taken_until > clock_timestamp(), false) as leased
  from operation op where op.chain_id = $1 and op.state in ('queued', 'signed')
), turns as (
  -- Account by account: what is under way comes before what waits, so that every account has its first before any
  -- other has its second.
  select o.*, row_number() over (partition by account_id order by takable, created_at) as turn from open o
), ready as (
  -- Row by row in their order, so that no more are looked at than fill a bundle.
  select op.id, t.alone, t.priority, t.turn, t.created_at, op.exclusive
  from (
    select * from turns where takable and exists (select from serving where sender = $2)
    order by alone desc, priority, turn, created_at offset 0) t
  cross join lateral (
    select op.id, case when op.kind in ('swap', 'bridge') then op.resource end as exclusive
    from operation op left join intent i on i.id = op.intent_id
    where op.id = t.id and ${isTakable} and (op.state = 'signed' or ${isLive}) and ${isNotStopped}
      -- Its wallet is not being served: the first of a wallet is not overtaken.
      and op.wallet_id not in (select wallet_id from open where leased)
      -- All earlier steps are confirmed.
      and (op.kind = 'mint' or not exists (
        select from operation earlier where earlier.intent_id = op.intent_id
          and earlier.sequence < op.sequence and earlier.state not in ('confirmed', 'final')))
      -- No other swap of its pair or burn of its wallet is under way: it is simulated after that one.
      and (op.state = 'signed' or op.kind not in ('swap', 'bridge') or not exists (
        select from operation other where other.chain_id = op.chain_id and other.resource = op.resource
          and other.state = 'signed' and other.tx_id is not null))
      -- A wallet keeps the lane of its last unfinal operation while that serves, so that they stay in order through
      -- every reorg.
      and $2 = coalesce(
        (select last.sender from (
           select t.sender from operation w join chain_tx t on t.id = w.tx_id
           where w.wallet_id = op.wallet_id and w.chain_id = $1
             and w.state in ('signed', 'mined', 'confirmed') and w.tx_id is not null
           order by w.tx_id desc limit 1) last join serving using (sender)),
        (select sender from serving where n = mod(abs(hashtext(op.wallet_id)::bigint), total)))
    limit 1 for update of op skip locked) op
  order by t.alone desc, t.priority, t.turn, t.created_at limit ${BUNDLE_SIZE}
), chosen as (
  -- Of swaps of a pair and burns of a wallet the first; what is to be alone is alone.
  select distinct on (slot) id from (
    select r.*, case when bool_or(alone) over () then '' else coalesce(exclusive, id) end as slot from ready r) r
  order by slot, alone desc, priority, turn, created_at
), claimed as (
  update operation op set taken_by = $3, taken_until = clock_timestamp() + interval '${LEASE_SECONDS} seconds',
    lost_leases = op.lost_leases + (op.taken_by is not null)::int
  where op.id = any (array(select id from chosen)) returning op.*
)
select ${namedColumns('op', operationColumns)} from claimed op join ready r on r.id = op.id
order by r.alone desc, r.priority, r.turn, r.created_at`

/** `lateSeconds`: how long a lowest open nonce of this chain may be open. */
type Claiming = Lane & { lateSeconds: number }

/**
 * Claims what a lane may sign next under a lease of 10 s, in one statement: by plan, then account by account in turn.
 * An operation that was signed and lost its carrier, or whose leases were lost, is claimed alone.
 *
 * A wallet leaves the lane of its last unfinal operation when that is dry, full or late and another one is not. Order
 * means less then: earlier steps of one intent are confirmed before later ones are claimed, and keys make each effect
 * happen once. But of two intents in two lanes a reorg may leave the later one to be mined first. Where it spends what
 * the earlier one brings, its call fails on chain, nothing is moved, and it is reported as failed.
 *
 * Of 10,000 that wait each is read once, by index; all else is asked of those only that fill the bundle.
 *
 * @param taker - Who has the lease.
 * @returns The operations in the order in which they shall be carried.
 */
export async function takeOperations(
  db: Db,
  { chainId, sender, lateSeconds }: Claiming,
  taker: string,
): Promise<Operation[]> {
  const values = [chainId.toString(), sender, taker, lateSeconds]
  return runPlannedOnce<Operation>(db, { name: 'claim', text: CLAIM }, values)
}

/**
 * Locks the rows that are still in the state they were claimed in, under the taker's lease. What is not
 * returned was cancelled, stopped, executed by somebody else or claimed by another signer meanwhile and must not be
 * signed.
 */
export async function lockTaken(trx: Db, operations: Operation[], taker: string) {
  await holdStops(trx)
  const ids = operations.map(({ id }) => id)
  const statement = { name: 'lock taken', text: LOCK_TAKEN }
  const rows = await runPrepared<{ id: string; state: string }>(trx, statement, [ids, taker])
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  return operations.filter(({ id, state }) => states.get(id) === state)
}

const LOCK_TAKEN = `
select op.id, op.state from operation op left join intent i on i.id = op.intent_id
where op.id = any ((select $1)::text[]) and op.taken_by = $2 and op.taken_until > clock_timestamp()
  and (op.state = 'signed' and op.tx_id is null or op.state = 'queued' and ${isLive})
  and ${isNotStopped}
order by op.id
for update of op`
