import { reasonOf, type WaitingCode } from '../../domain/intent/waiting.js'
import type { Db } from '../../db/client/connect.js'

/** A sender of transactions on one chain. The treasury is one too, but sends no bundles. */
export type Sender = {
  chainId: bigint
  address: string
  kekId: string
  sealedKey: Buffer
  purpose: 'operations' | 'treasury'
}

/** The senders of bundles of one chain, or of all chains. */
export async function readSenders(db: Db, chainId?: number): Promise<Sender[]> {
  return selectSenders(db, chainId).where({ purpose: 'operations' })
}

/** The senders of a chain, including the treasury. */
export async function readAllSenders(db: Db, chainId?: number): Promise<Sender[]> {
  return selectSenders(db, chainId)
}

function selectSenders(db: Db, chainId?: number) {
  return db('sender')
    .where(chainId === undefined ? {} : { chain_id: chainId })
    .orderBy(['chain_id', 'sender'])
    .select<Sender[]>(
      'chain_id as chainId',
      'sender as address',
      'kek_id as kekId',
      'sealed_key as sealedKey',
      'purpose',
    )
}

/** The public data of all senders. */
export async function readSenderAddresses(
  db: Db,
): Promise<Pick<Sender, 'chainId' | 'address' | 'purpose'>[]> {
  return db('sender')
    .orderBy(['chain_id', 'sender'])
    .select('chain_id as chainId', 'sender as address', 'purpose')
}

/** All senders with their open nonces. */
export async function readSendersInUse(
  db: Db,
): Promise<{ chainId: bigint; address: string; nextNonce: bigint; open: number }[]> {
  return db('sender as l')
    .where({ purpose: 'operations' })
    .orderBy(['l.chain_id', 'l.sender'])
    .select('l.chain_id as chainId', 'l.sender as address', 'l.next_nonce as nextNonce')
    .select(
      db.raw(`(select count(*)::int from chain_tx t where t.chain_id = l.chain_id
        and t.sender = l.sender and t.state = 'open') as open`),
    )
}

/** Inserts a sender. No-op when it exists. */
export async function insertSender(db: Db, sender: Sender): Promise<void> {
  await db('sender')
    .insert({
      chain_id: sender.chainId.toString(),
      sender: sender.address,
      kek_id: sender.kekId,
      sealed_key: sender.sealedKey,
      purpose: sender.purpose,
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
export type ClaimedOperation = { id: string; leaseOwner: string }

/** Stores a rejection, if the lease is still held and the operation unsigned. */
export async function refuseOperation(
  db: Db,
  { id, leaseOwner }: ClaimedOperation,
  refusal: SigningRefusal,
) {
  const waitsFor = refusal.waitsFor ?? reasonOf(refusal.code)
  await db('operation')
    .where({ id, lease_owner: leaseOwner, state: 'queued' })
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
      lease_owner: null,
      leased_until: null,
    })
}

/** Releases an operation without a decision, to be claimed again after a delay. */
export async function returnOperation(
  db: Db,
  { id, leaseOwner }: ClaimedOperation,
  afterMs: number,
) {
  await db('operation')
    .where({ id, lease_owner: leaseOwner })
    .update({
      lease_owner: null,
      leased_until: db.raw(`clock_timestamp() + ? * interval '1 millisecond'`, [afterMs]),
    })
}

/** The sender's next nonce. The sender is locked until the transaction ends. */
export async function lockNextNonce(trx: Db, sender: Sender): Promise<bigint> {
  const row = await trx('sender')
    .where({ chain_id: sender.chainId.toString(), sender: sender.address })
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
  included: string[]
}

/**
 * Stores a signed transaction and binds its nonce and operations to it, all or nothing.
 *
 * @returns The id of the transaction.
 */
export async function storeSigned(trx: Db, sender: Sender, tx: SignedTransaction): Promise<bigint> {
  const { rows } = await trx.raw<{ rows: { id: bigint; moved: number; included: number }[] }>(
    STORE,
    {
      chain: sender.chainId.toString(),
      sender: sender.address,
      nonce: tx.nonce.toString(),
      gasLimit: tx.gasLimit.toString(),
      l1Fee: tx.l1FeeWei.toString(),
      value: tx.valueWei.toString(),
      maxFee: tx.maxFeeWei.toString(),
      ...{ hash: tx.hash, raw: tx.raw, ids: tx.included },
    },
  )
  const [row] = rows
  if (!row) throw new Error('The transaction was not stored.')
  if (row.moved !== 1) throw new Error('Another process used the nonce of the sender.')
  if (row.included !== tx.included.length)
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
  update sender set next_nonce = cast(:nonce as bigint) + 1, out_of_gas_since = null, unpaid_gas = null
  where chain_id = :chain and sender = :sender and next_nonce = :nonce returning 1
), included as (
  update operation op set state = 'signed', tx_id = tx.id, code = null, message = null,
    retry_after = null, lease_owner = null, leased_until = null, spent_since = null,
    waits_for = null, waits_since = null
  from tx
  where op.id = any(cast(:ids as text[])) and op.tx_id is null and op.state in ('queued', 'signed')
  returning 1
)
select tx.id, (select count(*) from moved)::int as moved, (select count(*) from included)::int as included
from tx`
