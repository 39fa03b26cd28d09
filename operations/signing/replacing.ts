import { runPrepared } from '../../db/client/prepared.js'
import { isNotPaused } from '../../db/pauses.js'
import { detachOperations } from './inclusion.js'
import type { WaitingCode } from '../../domain/intent/waiting.js'
import type { Db } from '../../db/client/connect.js'

/** Consecutive permanent rejections by all endpoints before bytes are given up, because an endpoint may be in error. */
const REFUSALS = 3

/** An open transaction that blocks its sender, with its newest send. */
export type StuckTransaction = {
  txId: bigint
  sender: string
  nonce: bigint
  /** Index of its newest send, and its signed bytes. */
  n: number
  raw: string
  isRefused: boolean
  /** A pause or freeze withholds one of its operations. */
  isWithheld: boolean
  /** Its unconfirmed operations. Without any, the transaction has no purpose. */
  operations: number
}

/**
 * The lowest open nonce of each sender whose newest send has been out for this long and this many indexed blocks, or was
 * permanently rejected. A higher nonce cannot be mined before it. Also each nonce whose newest send no node has answered
 * while one of its operations is withheld: it blocks the higher ones.
 */
export async function findStuck(
  db: Db,
  chainId: number,
  { seconds, blocks }: { seconds: number; blocks: number },
): Promise<StuckTransaction[]> {
  const { rows } = await db.raw<{ rows: StuckTransaction[] }>(STUCK, {
    ...{ chain: chainId, seconds, blocks, refusals: REFUSALS },
  })
  return rows
}

const STUCK = `
select t.id as "txId", t.sender, t.nonce, s.n, s.raw, s.refusals >= :refusals as "isRefused", t."isWithheld",
  (select count(*)::int from operation o
   where o.tx_id = t.id and o.state in ('signed', 'mined')) as operations
from sender l
join chain c on c.id = l.chain_id
join lateral (
  select x.*, x.nonce = min(x.nonce) over () as "isLowest", exists (
    select from operation op where op.tx_id = x.id and op.state = 'signed' and not ${isNotPaused}) as "isWithheld"
  from chain_tx x where x.chain_id = l.chain_id and x.sender = l.sender and x.state = 'open') t on true
join lateral (select * from chain_tx_send where tx_id = t.id order by n desc limit 1) s on true
where l.chain_id = :chain and (t."isWithheld" and s.sent_at is null or t."isLowest" and (s.refusals >= :refusals
  or s.sent_at <= clock_timestamp() - :seconds * interval '1 second'
    and c.indexed_block >= s.sent_block + :blocks))`

/** Replacement bytes for the nonce of a transaction. `n` is the index of the replaced send. */
export type Replacement = { txId: bigint; n: number; hash: string; raw: string; maxFeeWei: bigint }

/**
 * Stores a replacement of a transaction, whose sender is locked. The database accepts none for a transaction that is not
 * open.
 *
 * @returns False when nothing was stored: it is mined, being indexed, or was replaced meanwhile.
 */
export async function appendSend(trx: Db, replacement: Replacement): Promise<boolean> {
  const { txId, n, hash, raw, maxFeeWei } = replacement
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `insert into chain_tx_send (tx_id, n, hash, raw, max_fee)
     select t.id, :next, :hash, :raw, :fee from chain_tx t
     where t.id = :tx and not exists (select from chain_tx_send where tx_id = t.id and n >= :next)`,
    { tx: txId.toString(), next: n + 1, hash, raw, fee: maxFeeWei.toString() },
  )
  return rowCount === 1
}

/**
 * Locks the unmined operations of a transaction. Operations are locked before senders.
 *
 * @returns Their ids.
 */
export async function lockIncluded(trx: Db, txId: bigint): Promise<string[]> {
  return trx('operation')
    .where({ tx_id: txId.toString(), state: 'signed' })
    .orderBy('id')
    .forUpdate()
    .pluck<string[]>('id')
}

/** Records in the operations of a transaction why it is not mined. Null clears the reason. */
export async function notifyIncluded(
  db: Db,
  txId: bigint,
  why: { message: string; waitsFor: WaitingCode } | null,
): Promise<void> {
  const message = why?.message ?? null
  await db('operation')
    .where({ tx_id: txId.toString(), state: 'signed' })
    .whereRaw('message is distinct from ?', [message])
    .update({
      message,
      waits_for: why?.waitsFor ?? null,
      waits_since: why && db.raw('clock_timestamp()'),
    })
}

/** Far longer than sent bytes are needed. */
const BYTES_DAYS = 30

/**
 * Deletes the bytes of transactions that have been final or lost for a month, of at most `limit` sends. Nonces, fees and
 * hashes are kept.
 *
 * @returns How many were deleted. Less than `limit` when none is left.
 */
export async function forgetBytes(db: Db, limit: number): Promise<number> {
  const { rows } = await db.raw<{ rows: [{ forgotten: number }] }>(
    'select forget_bytes(?, ?) as forgotten',
    [BYTES_DAYS, limit],
  )
  return rows[0].forgotten
}

/** Records that bytes are given to a node, or were found in a block: anyone may execute what they include. */
export async function markSent(db: Db, hashes: string[]): Promise<void> {
  await runPrepared(db, { name: 'mark sent', text: 'select mark_sent($1)' }, [hashes])
}

/** Records that a node responded to bytes. `isRefused`: all endpoints rejected them permanently. */
export async function setAnswered(db: Db, hash: string, isRefused: boolean): Promise<void> {
  await db('chain_tx_send as s')
    .where({ hash })
    .update({
      sent_at: db.raw('coalesce(sent_at, clock_timestamp())'),
      sent_block: db.raw(`coalesce(sent_block, (select c.indexed_block from chain_tx t
        join chain c on c.id = t.chain_id where t.id = s.tx_id))`),
      refusals: isRefused ? db.raw('refusals + 1') : 0,
    })
}

/**
 * Ends transactions whose nonces the chain has used for other transactions. Their operations are resubmitted.
 *
 * @returns The ids that were still open.
 */
export async function setLost(db: Db, txIds: bigint[]): Promise<bigint[]> {
  return db.transaction(async (trx) => {
    for (const txId of txIds) await lockIncluded(trx, txId)
    const lost = await trx('chain_tx')
      .whereIn('id', txIds.map(String))
      .where({ state: 'open' })
      .update({ state: 'lost' })
      .returning<{ id: bigint }[]>('id')
    const ids = lost.map(({ id }) => id)
    await detachOperations(trx, ids.map(String))
    return ids
  })
}
