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
/** Operations taken at once: the most that one bundle carries. */
export const BUNDLE_SIZE = 20
const LEASE_SECONDS = 30
/** After this many leases that ended without a verdict a row is taken alone, so that it harms no other. */
export const LEASES_IN_COMPANY = 2

/** Of one account so many rows are looked through at most to find some that may be taken. */
const LOOKED_THROUGH = 1_000
/** Of a pair of tokens only one is taken at a time: so many that no operator has stopped are looked through. */
const SWAPS_LOOKED_THROUGH = 200

/** For each place in a bundle so many rows of each plan are weighed at most: not all may be the lane's that asks. */
const CANDIDATES = 10

// What makes an operation `op` one that may be signed now, of an intent `i` (none for a funding). Each says one thing.

/** Nobody works on it. */
const isTakable = `(op.state = 'queued' or op.state = 'signed' and op.tx_id is null)
    and (op.taken_until is null or op.taken_until < clock_timestamp())`

/** Its intent goes on. Nothing stops a mint: what was burned comes out, whatever has become of its intent. */
const isLive = `(op.kind = 'mint' or i.id is null
      or i.status not in ('completed', 'failed') and i.cancelled_at is null)`

/** What it builds on is confirmed. */
const isNext = `(op.kind = 'mint' or not exists (
      select from operation earlier
      where earlier.intent_id = op.intent_id and earlier.sequence < op.sequence
        and earlier.state not in ('confirmed', 'final')))`

/** No other swap of its pair, or burn of its wallet, is under way: what it does is simulated after that one. */
const isClear = `(op.kind not in ('swap', 'bridge') or not exists (
      select from operation other
      where other.chain_id = op.chain_id and other.resource = op.resource
        and other.state = 'signed' and other.tx_id is not null))`

/** No operator has stopped it, and no other operation of its wallet is being worked on. */
const isFree = `${isNotStopped}
    and op.wallet_id not in (select wallet_id from leased)`

// Where it waits, by index. A swap waits with those of its pair.
const isAlone = `op.tx_id is null
    and (op.state = 'signed' or op.state = 'queued' and op.lost_leases >= ${LEASES_IN_COMPANY})`
const isSwap = `op.state = 'queued' and op.lost_leases < ${LEASES_IN_COMPANY}
    and op.kind = 'swap' and op.resource is not null`
const isWaiting = `op.state = 'queued' and op.lost_leases < ${LEASES_IN_COMPANY}
    and (op.kind <> 'swap' or op.resource is null)`

/** A pair on its chain, as its index has it. */
const pair = `(op.chain_id::text || ' ' || op.resource) collate "C"`
const isOfChain = (chain: string) =>
  `${pair} > cast(${chain} as text) || ' ' and ${pair} < cast(${chain} as text) || '!'`

/** Of the same pair or wallet the first one comes first. */
const place = `row_number() over (
      partition by case when op.kind in ('swap', 'bridge') then coalesce(op.resource, op.id) else op.id end,
        op.state
      order by op.priority, op.created_at)`

/**
 * The lanes of the chain as they are: `dry` ones cannot pay, `full` ones have as many open transactions as a lane
 * may have, of `late` ones the lowest open nonce is not mined for long.
 */
const standing = `select l.sender, l.dry_since is not null as dry,
    coalesce(w.open >= ${OPEN_TRANSACTIONS}, false) as full_up,
    coalesce(w.since < clock_timestamp() - cast($4 as double precision) * interval '1 second', false) as late
  from lane l left join (
    select t.sender, count(*) as open, (array_agg(t.opened_at order by t.nonce))[1] as since
    from chain_tx t where t.chain_id = $1 and t.state = 'open' group by t.sender) w using (sender)
  where l.chain_id = $1 and l.purpose = 'operations'`

/**
 * How well each can serve. A late one serves where none is prompt: its next nonces may be mined with its lowest
 * one. A dry one serves only where all are, so that somebody looks again and says why operations wait.
 */
const ranked = `select sender,
    case when not dry and not late then 1 when not dry then 2 when bool_and(dry) over () then 3 end as rank, full_up
  from standing`

/** The lanes that serve now, numbered. */
const serving = `select sender, row_number() over (order by sender) - 1 as n, count(*) over () as total
  from ranked where not full_up and rank = (select min(rank) from ranked where not full_up)`

/**
 * The lane of a wallet: that of its last unfinal operation while it serves, so that they stay in order through
 * every reorg. Else any other: there is no order then between operations that do not build on each other.
 */
const laneOf = `coalesce(
      (select last.sender from (
         select t.sender from operation w join chain_tx t on t.id = w.tx_id
         where w.wallet_id = op.wallet_id and w.chain_id = $1
           and w.state in ('signed', 'mined', 'confirmed') and w.tx_id is not null
         order by w.tx_id desc limit 1) last join serving using (sender)),
      (select sender from serving where n = mod(abs(hashtext(op.wallet_id)::bigint), total)))`

/** The lane that asks serves its wallet. */
const isOfLane = `${laneOf} = $2`

/** Wallets that somebody works for: what was taken first is not overtaken. */
const leased = `select wallet_id from operation
  where chain_id = $1 and state = 'queued' and taken_by is not null and taken_until > clock_timestamp()`

/** True when something of the chain waits for the signer. */
export async function hasWorkToSign(db: Db, chainId: number): Promise<boolean> {
  const statement = { name: 'has work', text: HAS_WORK }
  const [row] = await runPrepared<{ hasWork: boolean | null }>(db, statement, [chainId.toString()])
  return row?.hasWork === true
}

/** In the order of its index, which is therefore read: what waits may stand at the very end of the table. */
const foundFirst = (where: string, order: string) => `(select true from operation op
    where ${where} and ${isTakable} and ${isNotStopped} order by ${order} limit 1)`
/** A chain that the planner does not know, or it would plan anew for each call. */
const hidden = '(select $1::bigint)'
const here = `op.chain_id = ${hidden}`
const HAS_WORK = `select coalesce(
  ${foundFirst(`${here} and ${isWaiting}`, 'op.priority, op.account_id, op.created_at')},
  ${foundFirst(`${isOfChain(hidden)} and ${isSwap}`, `${pair}, op.priority, op.created_at`)},
  ${foundFirst(`${here} and ${isAlone}`, 'op.created_at')}) as "hasWork"`

/** True when something that waits for the signer on the chain is not this account's; swaps are left out. */
export async function hasOthersToSign(
  db: Db,
  chainId: number,
  accountId: string,
): Promise<boolean> {
  const statement = { name: 'has others', text: HAS_OTHERS }
  const values = [chainId.toString(), accountId]
  const [row] = await runPrepared<{ hasOthers: boolean }>(db, statement, values)
  return row?.hasOthers === true
}

/** One look into the index for each plan before and after the account. */
const otherOfPlan = (side: '<' | '>') => `(select true from operation op
    where ${here} and ${isWaiting} and op.priority = plan.priority
      and op.account_id ${side} (select $2) and ${isTakable} and ${isNotStopped}
    order by op.account_id, op.created_at limit 1)`
const HAS_OTHERS = `select bool_or(
    coalesce(${otherOfPlan('<')}, ${otherOfPlan('>')}, false)) as "hasOthers"
  from (values (2), (3), (4)) plan (priority)`

/** A lane's lowest open nonce counts as late after so long, unless its chain's own time is told. */
const LATE_SECONDS = 60

/**
 * Takes what a lane may sign next under a lease of 30 s, in one statement. By plan, then account by
 * account in turn; only where all earlier steps are confirmed. An operation that was signed and lost its
 * carrier, or whose leases were lost, is taken alone. Nothing that an intent comes to stops a mint: what was
 * burned comes out. What an operator has stopped is not taken.
 *
 * A wallet keeps the lane of its last unfinal operation, so that its operations stay in order through every
 * reorg, unless that lane is dry, full or late and another one is not. Order means less then: earlier steps of
 * one intent are confirmed before later ones are taken, and keys make each effect happen once; but of two
 * intents in two lanes a reorg may leave the later one to be mined first. What it spends and the earlier one
 * brings is not there then: its call fails on chain, nothing is moved, and it is told as failed.
 *
 * Its cost does not hang on how much waits: of each account some are looked at, and of more accounts than a bundle
 * of each lane can serve the next ones in turn.
 *
 * @param lane - `lateSeconds`: how long a lowest open nonce of this chain may be open. `rotation`: whose turn it is
 *   where more accounts wait, moved on by the call. `crowd`: an account; nothing is taken if all is this one's.
 * @returns The operations in the order in which they shall be carried.
 */
export async function takeOperations(
  db: Db,
  { chainId, sender, lateSeconds = LATE_SECONDS, rotation = { after: '' }, crowd }: Taking,
  taker: string,
): Promise<Operation[]> {
  const values = [chainId.toString(), sender, taker, lateSeconds, rotation.after, crowd ?? null]
  const rows = await runPlannedOnce<TakenRow>(db, { name: 'take', text: TAKE }, values)
  rotation.after = rows[0]?.servedUpTo ?? ''
  return rows.filter(isTaken)
}

/** There is one row when nothing was taken, too. */
type TakenRow = Operation & { servedUpTo: string }
const isTaken = ({ id }: { id: string | null }) => id !== null

/** `after`: the account that was served last; empty at first. */
export type Rotation = { after: string }
type Taking = Lane & {
  lateSeconds?: number
  rotation?: Rotation
  crowd?: string | undefined
}

/**
 * Those that wait of an intent that goes on, whose time and turn it is. Row by row, whatever the planner expects: in
 * their order, so that no more are looked at than are wanted.
 */
const whenReady = `left join lateral (
      select x.id, x.status, x.cancelled_at from intent x where x.id = op.intent_id offset 0) i on true
    where ${isTakable}
      and (op.state = 'signed' or ${isLive})
      and (op.state = 'signed' or ${isClear})
      and ${isNext}
      and ${isFree}`

/** The first rows of a part of the queue, as far as it is looked through. */
const firstOf = (where: string, order: string, limit: number) => `(
      select op.* from operation op where ${where}
      order by ${order} limit ${limit}) op`

const waitingOfAccount = firstOf(
  `op.chain_id = $1 and ${isWaiting} and op.priority = t.priority and op.account_id = t.account_id`,
  'op.created_at',
  LOOKED_THROUGH,
)
const swapsOfPair = firstOf(
  `${isSwap} and ${pair} = p.pair and ${isNotStopped}`,
  `${pair}, op.priority, op.created_at`,
  SWAPS_LOOKED_THROUGH,
)

/**
 * `turns` walks from account to account, plan by plan, and round to the first one again, as far as is needed for
 * a bundle of each lane; `pairs` from pair to pair. Each step is one look into an index. Of an account no more rows
 * are weighed once they fill the lane's bundle. What is `chosen` is looked up row by row and what is `taken` by their
 * keys, whatever the planner expects: of a backlog that came since the table was last analyzed it knows nothing, and
 * would read all of it.
 */
const TAKE = `
with recursive standing as (${standing}),
ranked as (${ranked}),
serving as (${serving}),
leased as (${leased}),
needed as (select ${BUNDLE_SIZE} * coalesce(max(total), 1) as n from serving),
turns (priority, account_id, n, is_round) as (
  select plan.priority, cast($5 as text), 0, false from (values (2), (3), (4)) plan (priority)
  union all
  select t.priority, coalesce(next.account_id, first.account_id), t.n + 1,
    t.is_round or next.account_id is null
  from turns t
  left join lateral (
    select op.account_id from operation op
    where op.chain_id = $1 and ${isWaiting} and op.priority = t.priority
      and op.account_id > t.account_id and (not t.is_round or op.account_id <= $5)
    order by op.account_id limit 1) next on true
  left join lateral (
    select op.account_id from operation op
    where op.chain_id = $1 and ${isWaiting} and op.priority = t.priority
      and next.account_id is null and not t.is_round and op.account_id <= $5
    order by op.account_id limit 1) first on true
  where t.n < (select n from needed) and coalesce(next.account_id, first.account_id) is not null
), pairs (pair) as (
  (select ${pair} from operation op where ${isOfChain('$1')} and ${isSwap} order by 1 limit 1)
  union all
  select (select ${pair} from operation op
    where ${pair} > p.pair and ${isOfChain('$1')} and ${isSwap} order by 1 limit 1)
  from pairs p where p.pair is not null
), served as (
  select priority, account_id,
    ${CANDIDATES} * (select n from needed) / count(*) over (partition by priority) as share
  from turns where n > 0
), candidate as (
  select op.* from served t cross join lateral (
    select op.* from (
      select op.* from ${waitingOfAccount}
      ${whenReady}
      order by op.created_at limit t.share) op
    where ${isOfLane}
    order by op.created_at limit ${BUNDLE_SIZE}) op
  union all
  select op.* from pairs p cross join lateral (
    select op.* from ${swapsOfPair}
    ${whenReady}
    order by op.priority, op.created_at limit (select n from needed)) op
  where p.pair is not null and ${isOfLane}
  union all
  select op.* from (
    select op.* from operation op ${whenReady} and op.chain_id = $1 and ${isAlone}
    order by op.created_at limit ${LOOKED_THROUGH}) op
  where ${isOfLane}
), ready as (
  select op.id, op.account_id, op.created_at, op.priority,
    (op.state = 'signed' or op.lost_leases >= ${LEASES_IN_COMPANY}) as alone,
    row_number() over (partition by op.account_id order by op.created_at) as turn,
    ${place} as place
  from candidate op
), chosen as (
  select op.id from (
    select r.* from ready r
    where (not r.alone or r.id = (select id from ready where alone order by created_at limit 1))
      and (r.alone or not exists (select from ready where alone))
      and (r.alone or r.place = 1)
      and (cast($6 as text) is null or exists (select from ready where account_id <> $6))
    order by r.priority, r.turn, r.created_at offset 0) r
  cross join lateral (
    select op.id from operation op where op.id = r.id and ${isTakable}
    limit 1 for update of op skip locked) op
  order by r.priority, r.turn, r.created_at
  limit ${BUNDLE_SIZE}
), taken as (
  update operation op set
    taken_by = $3,
    taken_until = clock_timestamp() + interval '${LEASE_SECONDS} seconds',
    lost_leases = op.lost_leases + (op.taken_by is not null)::int
  where op.id = any (array(select id from chosen))
  returning op.*
)
select reached.up_to as "servedUpTo",
  ${namedColumns('op', operationColumns)}
from (select coalesce((select t.account_id from turns t where t.n = (select n from needed)
  order by t.priority limit 1), '') as up_to) reached
left join (taken op join ready r on r.id = op.id) on true
order by r.priority, r.turn, r.created_at`

/**
 * Locks the rows that are still in the state they were taken in, under the taker's lease. What is not
 * returned was cancelled, stopped, executed by somebody else or taken over meanwhile and must not be signed.
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
