import { reasonOf, type WaitingCode } from '../../domain/waiting.js'
import type { Db } from '../connection/connect.js'

/** A sender of transactions on one chain. The treasury is one too, but sends no bundles. */
export type Lane = {
  chainId: bigint
  sender: string
  kekId: string
  sealedKey: Buffer
  purpose: 'operations' | 'treasury'
}

/** The senders of bundles of one chain, or of all chains. */
export async function readLanes(db: Db, chainId?: number): Promise<Lane[]> {
  return selectSenders(db, chainId).where({ purpose: 'operations' })
}

/** The senders of a chain, including the treasury. */
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

/** The public data of all senders. */
export async function readSenderAddresses(
  db: Db,
): Promise<Pick<Lane, 'chainId' | 'sender' | 'purpose'>[]> {
  return db('lane')
    .orderBy(['chain_id', 'sender'])
    .select('chain_id as chainId', 'sender', 'purpose')
}

/** All senders with their open nonces. */
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

/** Inserts a sender. No-op when it exists. */
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

/** A rejection of an unsigned operation: retry later, or never. */
export type SigningRefusal = {
  state: 'deferred' | 'rejected'
  code: string
  message: string
  retryAfterMs: number
  refusedBlock?: bigint
  /** The new count of lost leases. Absent: unchanged. */
  lostLeases?: number
  /** The lowest block that may hold its log, when its key is already used. */
  spentSince?: bigint
  /** The wait reason. Absent: derived from the code. */
  waitsFor?: WaitingCode | undefined
}

/** A claimed operation, and its lease owner. */
export type Taken = { id: string; taker: string }

/** Stores a rejection, if the lease is still held and the operation unsigned. */
export async function refuseOperation(db: Db, { id, taker }: Taken, refusal: SigningRefusal) {
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

/** Releases an operation without a decision, to be claimed again after a delay. */
export async function returnOperation(db: Db, { id, taker }: Taken, afterMs: number) {
  await db('operation')
    .where({ id, taken_by: taker })
    .update({
      taken_by: null,
      taken_until: db.raw(`clock_timestamp() + ? * interval '1 millisecond'`, [afterMs]),
    })
}

/** The sender's next nonce. The sender is locked until the transaction ends. */
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
 * Stores a signed transaction and binds its nonce and operations to it, all or nothing.
 *
 * @returns The id of the transaction.
 */
export async function storeSigned(trx: Db, lane: Lane, tx: SignedTransaction): Promise<bigint> {
  const { rows } = await trx.raw<{ rows: { id: bigint; moved: number; carried: number }[] }>(
    STORE,
    {
      chain: lane.chainId.toString(),
      sender: lane.sender,
      nonce: tx.nonce.toString(),
      gasLimit: tx.gasLimit.toString(),
      l1Fee: tx.l1FeeWei.toString(),
      value: tx.valueWei.toString(),
      maxFee: tx.maxFeeWei.toString(),
      ...{ hash: tx.hash, raw: tx.raw, ids: tx.carried },
    },
  )
  const [row] = rows
  if (!row) throw new Error('The transaction was not stored.')
  if (row.moved !== 1) throw new Error('Another process used the nonce of the sender.')
  if (row.carried !== tx.carried.length)
    throw new Error('An operation is already in another transaction.')
  return row.id
}

const STORE = `
with tx as (
  insert into chain_tx (chain_id, sender, nonce, gas_limit, l1_fee_wei, value_wei)
  values (:chain, :sender, :nonce, :gasLimit, :l1Fee, :value) returning id
), send as (
  insert into chain_tx_send (tx_id, n, hash, raw, max_fee) select id, 1, :hash, :raw, :maxFee from tx
), moved as (
  update lane set next_nonce = cast(:nonce as bigint) + 1, dry_since = null, dry_gas = null
  where chain_id = :chain and sender = :sender and next_nonce = :nonce returning 1
), carried as (
  update operation op set state = 'signed', tx_id = tx.id, code = null, message = null,
    retry_after = null, taken_by = null, taken_until = null, spent_since = null,
    waits_for = null, waits_since = null
  from tx
  where op.id = any(cast(:ids as text[])) and op.tx_id is null and op.state in ('queued', 'signed')
  returning 1
)
select tx.id, (select count(*) from moved)::int as moved, (select count(*) from carried)::int as carried
from tx`
