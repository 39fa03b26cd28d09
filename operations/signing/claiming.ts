import { operationColumns, type Operation } from '../operations.js'
import { namedColumns } from '../../db/client/columns.js'
import { runPlannedOnce, runPrepared } from '../../db/client/prepared.js'
import { isNotPaused, readWithheld } from '../../db/pauses.js'
import type { Db } from '../../db/client/connect.js'
import type { Sender } from './signing.js'

/**
 * The most open transactions of a sender. Few are then blocked by a slow one, and nodes drop (geth) or reject (reth) more
 * of one account.
 *
 * @see https://github.com/ethereum/go-ethereum/blob/master/core/txpool/legacypool/legacypool.go
 */
const OPEN_TRANSACTIONS = 16
/** The most operations claimed at once, and the most in a bundle. */
export const BUNDLE_SIZE = 20
/** Delay of the operations of a killed signer. */
const LEASE_SECONDS = 10
/** After this many leases that expired without a decision, an operation is claimed alone, so that it blocks no other. */
export const LOST_LEASES_BEFORE_ALONE = 2

/** SQL condition: the operation `op` has neither a lease nor a transaction. */
const isClaimable = `(op.state = 'queued' or op.state = 'signed' and op.tx_id is null)
      and (op.leased_until is null or op.leased_until < clock_timestamp())`

/** SQL condition: the intent `i` of `op` is open. A mint is claimed in any state of its intent. */
const isLive = `(op.kind = 'mint' or i.id is null
      or i.status not in ('completed', 'failed') and i.cancelled_at is null)`

const CLAIM = `
-- Usable senders with free slots: those that can pay and are prompt, else the best available.
with serving as (
  select sender, row_number() over (order by sender) - 1 as n, count(*) over () as total
  from (
    select l.sender, coalesce(t.open, 0) as open, rank() over (order by l.out_of_gas_since is not null,
      coalesce(t.since < clock_timestamp() - $4::double precision * interval '1 second', false)) as place
    from sender l left join (
      select sender, count(*) as open, min(opened_at) as since
      from chain_tx where chain_id = $1 and state = 'open' group by sender) t using (sender)
    where l.chain_id = $1 and l.purpose = 'operations') senders
  where place = 1 and open < ${OPEN_TRANSACTIONS}
), open as materialized (
  select op.id, op.account_id, op.wallet_id, op.priority, op.created_at, ${isClaimable} as claimable,
    op.state = 'signed' or op.lost_leases >= ${LOST_LEASES_BEFORE_ALONE} as alone,
    coalesce(op.lease_owner is not null and op.leased_until > clock_timestamp(), false) as leased
  from operation op where op.chain_id = $1 and op.state in ('queued', 'signed')
), turns as (
  -- Accounts take turns: operations in progress count first, so that every account gets its first before any account
  -- gets its second.
  select o.*, row_number() over (partition by account_id order by claimable, created_at) as turn from open o
), ready as (
  -- Row by row in order, so that only as many rows are read as fill a bundle.
  select op.id, t.alone, t.priority, t.turn, t.created_at, op.exclusive
  from (
    select * from turns where claimable and exists (select from serving where sender = $2)
    order by alone desc, priority, turn, created_at offset 0) t
  cross join lateral (
    select op.id, case when op.kind in ('swap', 'bridge') then op.resource end as exclusive
    from operation op left join intent i on i.id = op.intent_id
    where op.id = t.id and ${isClaimable} and (op.state = 'signed' or ${isLive}) and ${isNotPaused}
      -- No earlier operation of the wallet is being signed: operations of a wallet keep their order.
      and op.wallet_id not in (select wallet_id from open where leased)
      -- All earlier steps are confirmed.
      and (op.kind = 'mint' or not exists (
        select from operation earlier where earlier.intent_id = op.intent_id
          and earlier.sequence < op.sequence and earlier.state not in ('confirmed', 'final')))
      -- No other swap of its pair or burn of its wallet is in flight: it is simulated after that one.
      and (op.state = 'signed' or op.kind not in ('swap', 'bridge') or not exists (
        select from operation other where other.chain_id = op.chain_id and other.resource = op.resource
          and other.state = 'signed' and other.tx_id is not null))
      -- A wallet keeps the sender of its last unfinal operation while that sender is usable, so that reorgs keep the
      -- order.
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
  -- Only the first swap of a pair and the first burn of a wallet. Operations to be claimed alone are alone.
  select distinct on (slot) id from (
    select r.*, case when bool_or(alone) over () then '' else coalesce(exclusive, id) end as slot from ready r) r
  order by slot, alone desc, priority, turn, created_at
), claimed as (
  update operation op set lease_owner = $3, leased_until = clock_timestamp() + interval '${LEASE_SECONDS} seconds',
    lost_leases = op.lost_leases + (op.lease_owner is not null)::int
  where op.id = any (array(select id from chosen)) returning op.*
)
select ${namedColumns('op', operationColumns)} from claimed op join ready r on r.id = op.id
order by r.alone desc, r.priority, r.turn, r.created_at`

/** `lateSeconds`: age at which a lowest open nonce of this chain counts as late. */
type Claiming = Sender & { lateSeconds: number }

/**
 * Claims the next operations of a sender under a lease of 10 s, in one statement: by plan tier, then accounts in turn.
 * Operations that lost their bundle or their leases are claimed alone.
 *
 * A wallet leaves the sender of its last unfinal operation when that sender is out of gas, full or late and another one
 * is not. The order is weaker then. Within an intent, steps are confirmed before later ones are claimed, and keys make
 * each effect happen once. Of two intents on two senders, a reorg may put the later one first. If it spends output of
 * the earlier one, its call fails on chain without moving money, and it is reported as failed.
 *
 * Each waiting operation is read once, by index. The other conditions are checked only for operations that fill the
 * bundle.
 *
 * @param leaseOwner - The lease owner.
 * @returns The operations in the order in which they are included.
 */
export async function claimOperations(
  db: Db,
  { chainId, address, lateSeconds }: Claiming,
  leaseOwner: string,
): Promise<Operation[]> {
  const values = [chainId.toString(), address, leaseOwner, lateSeconds]
  return runPlannedOnce<Operation>(db, { name: 'claim', text: CLAIM }, values)
}

/**
 * Locks the rows that are still in their claimed state, under the owner's lease. Missing rows were cancelled, paused,
 * executed by a foreign transaction or claimed by another signer. They must not be signed.
 */
export async function lockClaimed(trx: Db, operations: Operation[], leaseOwner: string) {
  const [first] = operations
  if (!first) return []
  const ids = operations.map(({ id }) => id)
  const statement = { name: 'lock claimed', text: LOCK_CLAIMED }
  const rows = await runPrepared<{ id: string; state: string }>(trx, statement, [ids, leaseOwner])
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  const withheld = await readWithheld(trx, first.chainId, ids)
  return operations.filter(({ id, state }) => {
    return states.get(id) === state && !withheld.operations.includes(id)
  })
}

const LOCK_CLAIMED = `
select op.id, op.state from operation op left join intent i on i.id = op.intent_id
where op.id = any ((select $1)::text[]) and op.lease_owner = $2 and op.leased_until > clock_timestamp()
  and (op.state = 'signed' and op.tx_id is null or op.state = 'queued' and ${isLive})
order by op.id
for update of op`
