import { reasonOf, type WaitingCode } from '../../domain/waiting.js'
import type { Db } from '../connection/connect.js'

/** An account that sends our transactions on one chain. The treasury is one too, and carries no operations. */
export type Lane = {
  chainId: bigint
  sender: string
  kekId: string
  sealedKey: Buffer
  purpose: 'operations' | 'treasury'
}

/** The lanes of one chain, of all chains when none is named. */
export async function readLanes(db: Db, chainId?: number): Promise<Lane[]> {
  return selectSenders(db, chainId).where({ purpose: 'operations' })
}

/** Whoever sends transactions on a chain: its lanes, and the treasury. */
export async function readSenders(db: Db, chainId?: number): Promise<Lane[]> {
  return selectSenders(db, chainId)
}

function selectSenders(db: Db, chainId?: number) {
  return db('lane')
    .where(chainId === undefined ? {} : { chain_id: chainId })
    .orderBy(['chain_id', 'sender'])
    .select<Lane[]>(
      'chain_id as chainId',
      'sender',
      'kek_id as kekId',
      'sealed_key as sealedKey',
      'purpose',
    )
}

/** What everybody may know of those who send transactions, on all chains. */
export async function readSenderAddresses(
  db: Db,
): Promise<Pick<Lane, 'chainId' | 'sender' | 'purpose'>[]> {
  return db('lane')
    .orderBy(['chain_id', 'sender'])
    .select('chain_id as chainId', 'sender', 'purpose')
}

/** All lanes with the nonces that are bound and not mined yet. */
export async function readLanesInUse(
  db: Db,
): Promise<{ chainId: bigint; sender: string; nextNonce: bigint; open: number }[]> {
  return db('lane as l')
    .where({ purpose: 'operations' })
    .orderBy(['l.chain_id', 'l.sender'])
    .select('l.chain_id as chainId', 'l.sender', 'l.next_nonce as nextNonce')
    .select(
      db.raw(`(select count(*)::int from chain_tx t where t.chain_id = l.chain_id
        and t.sender = l.sender and t.state = 'open') as open`),
    )
}

/** A sender that is there already stays as it is. */
export async function insertLane(db: Db, lane: Lane): Promise<void> {
  await db('lane')
    .insert({
      chain_id: lane.chainId.toString(),
      sender: lane.sender,
      kek_id: lane.kekId,
      sealed_key: lane.sealedKey,
      purpose: lane.purpose,
    })
    .onConflict()
    .ignore()
}

/** A verdict on an operation of which nothing was signed: try again later, or never. */
export type Refusal = {
  state: 'deferred' | 'rejected'
  code: string
  message: string
  retryAfterMs: number
  refusedBlock?: bigint
  /** Where the count of lost leases goes on; unchanged when absent. */
  lostLeases?: number
  /** The lowest block that may hold its log, when its key is used already. */
  spentSince?: bigint
  /** What it waits for; absent: what its code means. */
  waitsFor?: WaitingCode | undefined
}

/** An operation, and who has taken it. */
export type Taken = { id: string; taker: string }

/** Writes a refusal, if the row is still ours and unsigned. */
export async function refuseOperation(db: Db, { id, taker }: Taken, refusal: Refusal) {
  const waitsFor = refusal.waitsFor ?? reasonOf(refusal.code)
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
      spent_since: refusal.spentSince?.toString() ?? null,
      waits_for: waitsFor,
      waits_since: db.raw('case when waits_for = ? then waits_since else clock_timestamp() end', [
        waitsFor,
      ]),
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
  gasLimit: bigint
  l1FeeWei: bigint
  valueWei: bigint
  /** Ids of the operations. */
  carried: string[]
}

/**
 * Stores signed bytes, binds the nonce and the operations to them. All of it or nothing.
 *
 * @returns The id of the transaction.
 */
export async function storeSigned(trx: Db, lane: Lane, tx: SignedTransaction): Promise<bigint> {
  const at = { chain_id: lane.chainId.toString(), sender: lane.sender }
  const [row] = await trx('chain_tx')
    .insert({
      ...at,
      nonce: tx.nonce.toString(),
      gas_limit: tx.gasLimit.toString(),
      l1_fee_wei: tx.l1FeeWei.toString(),
      value_wei: tx.valueWei.toString(),
    })
    .returning<{ id: bigint }[]>('id')
  if (!row) throw new Error('The transaction was not stored.')
  const txId = row.id.toString()
  await trx('chain_tx_send').insert({
    tx_id: txId,
    n: 1,
    hash: tx.hash,
    raw: tx.raw,
    max_fee: tx.maxFeeWei.toString(),
  })
  const moved = await trx('lane')
    .where({ ...at, next_nonce: tx.nonce.toString() })
    .update({ next_nonce: (tx.nonce + 1n).toString(), dry_since: null, dry_gas: null })
  if (moved !== 1) throw new Error('The nonce of the lane has moved.')
  for (const id of tx.carried) {
    const changed = await trx('operation')
      .where({ id, tx_id: null })
      .whereIn('state', ['queued', 'signed'])
      .update({
        state: 'signed',
        tx_id: txId,
        code: null,
        message: null,
        retry_after: null,
        taken_by: null,
        taken_until: null,
        spent_since: null,
        waits_for: null,
        waits_since: null,
      })
    if (changed !== 1) throw new Error(`Operation ${id} is carried already.`)
  }
  return row.id
}
