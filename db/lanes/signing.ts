import { operationColumns, type Operation } from './operations.js'
import type { Db } from '../connection/connect.js'

export type Lane = { chainId: bigint; sender: string; kekId: string; sealedKey: Buffer }

/** A lane lets only this many of its transactions wait, so that few are stuck behind a slow one. */
const OPEN_TRANSACTIONS = 12
/** Operations taken at once: the most that one bundle carries. */
const BUNDLE_SIZE = 20
const LEASE_SECONDS = 30
/** After this many leases that ended without a verdict a row is taken alone, so that it harms no other. */
export const LEASES_IN_COMPANY = 2

/** The lanes of one chain, of all chains when none is named. */
export async function readLanes(db: Db, chainId?: number): Promise<Lane[]> {
  return db('lane')
    .where(chainId === undefined ? {} : { chain_id: chainId })
    .orderBy(['chain_id', 'sender'])
    .select<Lane[]>('chain_id as chainId', 'sender', 'kek_id as kekId', 'sealed_key as sealedKey')
}

/** What everybody may know of the lanes of all chains. */
export async function readLaneAddresses(db: Db): Promise<{ chainId: bigint; sender: string }[]> {
  return db('lane').orderBy(['chain_id', 'sender']).select('chain_id as chainId', 'sender')
}

/** All lanes with the nonces that are bound and not mined yet. */
export async function readLanesInUse(
  db: Db,
): Promise<{ chainId: bigint; sender: string; nextNonce: bigint; open: number }[]> {
  return db('lane as l')
    .orderBy(['l.chain_id', 'l.sender'])
    .select('l.chain_id as chainId', 'l.sender', 'l.next_nonce as nextNonce')
    .select(
      db.raw(`(select count(*)::int from chain_tx t where t.chain_id = l.chain_id
        and t.sender = l.sender and t.state = 'open') as open`),
    )
}

export async function insertLane(db: Db, lane: Lane): Promise<void> {
  await db('lane').insert({
    chain_id: lane.chainId.toString(),
    sender: lane.sender,
    kek_id: lane.kekId,
    sealed_key: lane.sealedKey,
  })
}

/** True when something of the chain waits for the signer. */
export async function hasWorkToSign(db: Db, chainId: number): Promise<boolean> {
  const row = await db('operation')
    .where({ chain_id: chainId })
    .whereRaw(`(state = 'queued' or (state = 'signed' and tx_id is null))`)
    .whereRaw('(taken_until is null or taken_until < clock_timestamp())')
    .first<{ id: string } | undefined>('id')
  return row !== undefined
}

/**
 * Takes what a lane may sign next under a lease of 30 s, in one statement. By plan, then account by
 * account in turn; only where all earlier steps are confirmed. A wallet keeps the lane of its last
 * unfinal operation, so that its operations stay in order through every reorg. An operation that was
 * signed and lost its carrier, or whose leases were lost, is taken alone. Nothing stops a mint: what was
 * burned comes out, whatever has become of its intent.
 *
 * @returns The operations in the order in which they shall be carried.
 */
export async function takeOperations(db: Db, lane: Lane, taker: string): Promise<Operation[]> {
  const { rows } = await db.raw<{ rows: Operation[] }>(TAKE, {
    chain: lane.chainId.toString(),
    sender: lane.sender,
    taker,
  })
  return rows
}

const TAKABLE = `(op.state = 'queued' or (op.state = 'signed' and op.tx_id is null))
    and (op.taken_until is null or op.taken_until < clock_timestamp())`

const TAKE = `
with lanes as (
  select sender, row_number() over (order by sender) - 1 as n, count(*) over () as total
  from lane where chain_id = :chain
), ready as (
  select op.id, op.created_at,
    (op.state = 'signed' or op.lost_leases >= ${LEASES_IN_COMPANY}) as alone,
    case a.plan when 'enterprise' then 2 when 'pro' then 3 else 4 end as priority,
    row_number() over (partition by op.account_id order by op.created_at) as turn
  from operation op
  join account a on a.id = op.account_id
  left join intent i on i.id = op.intent_id
  where op.chain_id = :chain and ${TAKABLE}
    and (op.state = 'signed' or op.kind = 'mint' or i.id is null
      or (i.status not in ('completed', 'failed') and i.cancelled_at is null))
    and (op.kind = 'mint' or not exists (
      select from operation earlier
      where earlier.intent_id = op.intent_id and earlier.sequence < op.sequence
        and earlier.state not in ('confirmed', 'final')))
    and coalesce(
      (select t.sender from operation w join chain_tx t on t.id = w.tx_id
       where w.wallet_id = op.wallet_id and w.chain_id = op.chain_id
         and w.state in ('signed', 'mined', 'confirmed')
       order by t.nonce desc limit 1),
      (select sender from lanes where n = mod(abs(hashtext(op.wallet_id)::bigint), total))
    ) = :sender
    and (select count(*) from chain_tx
         where chain_id = :chain and sender = :sender and state = 'open') < ${OPEN_TRANSACTIONS}
), chosen as (
  select op.id from operation op join ready r on r.id = op.id
  where ${TAKABLE} and (not r.alone or r.id = (
    select id from ready where alone order by created_at limit 1))
    and (r.alone or not exists (select from ready where alone))
  order by r.priority, r.turn, r.created_at
  limit ${BUNDLE_SIZE}
  for update of op skip locked
), taken as (
  update operation op set
    taken_by = :taker,
    taken_until = clock_timestamp() + interval '${LEASE_SECONDS} seconds',
    lost_leases = op.lost_leases + (op.taken_by is not null)::int
  from chosen where op.id = chosen.id
  returning op.*
)
select ${operationColumns.map((column) => `op.${column.replace(/ as (\w+)/, ' as "$1"')}`).join(', ')}
from taken op join ready r on r.id = op.id
order by r.priority, r.turn, r.created_at`

/** A verdict on an operation of which nothing was signed: try again later, or never. */
export type Refusal = {
  state: 'deferred' | 'rejected'
  code: string
  message: string
  retryAfterMs: number
  refusedBlock?: bigint
  /** Where the count of lost leases goes on; unchanged when absent. */
  lostLeases?: number
}

/** An operation, and who has taken it. */
type Taken = { id: string; taker: string }

/** Writes a refusal, if the row is still ours and unsigned. */
export async function refuseOperation(db: Db, { id, taker }: Taken, refusal: Refusal) {
  await db('operation')
    .where({ id, taken_by: taker, state: 'queued' })
    .update({
      state: refusal.state,
      code: refusal.code,
      message: refusal.message,
      retry_after: db.raw(`clock_timestamp() + ? * interval '1 millisecond'`, [
        refusal.retryAfterMs,
      ]),
      refused_block: refusal.refusedBlock?.toString() ?? null,
      ...(refusal.lostLeases === undefined ? {} : { lost_leases: refusal.lostLeases }),
      taken_by: null,
      taken_until: null,
    })
}

/** Gives a row back without a verdict, to be taken again after a while. */
export async function returnOperation(db: Db, { id, taker }: Taken, afterMs: number) {
  await db('operation')
    .where({ id, taken_by: taker })
    .update({
      taken_by: null,
      taken_until: db.raw(`clock_timestamp() + ? * interval '1 millisecond'`, [afterMs]),
    })
}

/**
 * Locks the rows that are still in the state they were taken in, under the taker's lease. What is not
 * returned was cancelled, executed by somebody else or taken over meanwhile and must not be signed.
 */
export async function lockTaken(trx: Db, operations: Operation[], taker: string) {
  const rows = await trx('operation as op')
    .leftJoin('intent as i', 'i.id', 'op.intent_id')
    .whereIn(
      'op.id',
      operations.map(({ id }) => id),
    )
    .where('op.taken_by', taker)
    .whereRaw('op.taken_until > clock_timestamp()')
    .whereRaw(
      `((op.state = 'signed' and op.tx_id is null) or (op.state = 'queued' and (i.id is null
        or op.kind = 'mint' or (i.status not in ('completed', 'failed') and i.cancelled_at is null))))`,
    )
    .orderBy('op.id')
    .forUpdate('op')
    .select<{ id: string; state: string }[]>('op.id', 'op.state')
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  return operations.filter(({ id, state }) => states.get(id) === state)
}

/** The lane's next nonce; the lane is locked until the transaction ends. */
export async function lockNextNonce(trx: Db, lane: Lane): Promise<bigint> {
  const row = await trx('lane')
    .where({ chain_id: lane.chainId.toString(), sender: lane.sender })
    .forUpdate()
    .first<{ next_nonce: bigint }>('next_nonce')
  return row.next_nonce
}

export type SignedTransaction = {
  nonce: bigint
  hash: string
  raw: string
  maxFeeWei: bigint
  carried: { id: string; payload: unknown }[]
}

/** Stores signed bytes, binds the nonce and the operations to them. All of it or nothing. */
export async function storeSigned(trx: Db, lane: Lane, tx: SignedTransaction): Promise<void> {
  const at = { chain_id: lane.chainId.toString(), sender: lane.sender }
  const [row] = await trx('chain_tx')
    .insert({ ...at, nonce: tx.nonce.toString() })
    .returning<{ id: bigint }[]>('id')
  const txId = row?.id.toString()
  await trx('chain_tx_send').insert({
    tx_id: txId,
    n: 1,
    hash: tx.hash,
    raw: tx.raw,
    max_fee: tx.maxFeeWei.toString(),
  })
  const moved = await trx('lane')
    .where({ ...at, next_nonce: tx.nonce.toString() })
    .update({ next_nonce: (tx.nonce + 1n).toString() })
  if (moved !== 1) throw new Error('The nonce of the lane has moved.')
  for (const { id, payload } of tx.carried) {
    const changed = await trx('operation')
      .where({ id, tx_id: null })
      .whereIn('state', ['queued', 'signed'])
      .update({
        state: 'signed',
        payload: JSON.stringify(payload),
        tx_id: txId,
        code: null,
        message: null,
        retry_after: null,
        taken_by: null,
        taken_until: null,
      })
    if (changed !== 1) throw new Error(`Operation ${id} is carried already.`)
  }
}
