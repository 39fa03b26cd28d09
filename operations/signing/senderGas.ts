import { runPrepared, type Statement } from '../../db/client/prepared.js'
import type { Db } from '../../db/client/connect.js'
import type { Sender } from './signing.js'

type SenderKey = Pick<Sender, 'chainId' | 'address'>

/** The gas limit of a transaction. @see https://eips.ethereum.org/EIPS/eip-7825 */
const MOST_GAS = 2n ** 24n

/** Upper bound of the cost of a transaction `t`: gas at the highest fee of its sends, L1 data fee, and its value. */
const costOf = `coalesce(t.gas_limit, ${MOST_GAS})
    * (select max(s.max_fee) from chain_tx_send s where s.tx_id = t.id) + t.l1_fee_wei + t.value_wei`

/**
 * Upper bound in wei of the cost of a sender's transactions from a nonce on: those that the chain had not executed when
 * its transaction count was read.
 */
export async function sumCosts(
  trx: Db,
  { chainId, address }: SenderKey,
  fromNonce: bigint,
): Promise<bigint> {
  const values = [chainId.toString(), address, fromNonce.toString()]
  const [row] = await runPrepared<{ wei: string }>(trx, costsStatement, values)
  if (!row) throw new Error('The sum query returned no row.')
  return BigInt(row.wei)
}

const costsStatement: Statement = {
  name: 'costs of a sender',
  // Parameters in subqueries, so that the generic plan is reused.
  text: `select coalesce(sum(${costOf}), 0) as wei from chain_tx t
    where t.chain_id = (select $1::bigint) and t.sender = (select $2) and t.nonce >= (select $3::bigint)`,
}

/**
 * Records that a sender is out of gas: it cannot pay for this much.
 *
 * @returns Whether this is new, and whether another sender of its chain can pay.
 */
export async function markOutOfGas(
  db: Db,
  { chainId, address }: SenderKey,
  gas: bigint,
): Promise<{ isNew: boolean; isReplaceable: boolean }> {
  const { rows } = await db.raw<{ rows: { isNew: boolean; isReplaceable: boolean }[] }>(
    MARK_OUT_OF_GAS,
    {
      chain: chainId.toString(),
      sender: address,
      gas: gas.toString(),
    },
  )
  const [row] = rows
  if (!row) throw new Error('The sender does not exist.')
  return row
}

const MARK_OUT_OF_GAS = `
update sender l set out_of_gas_since = coalesce(l.out_of_gas_since, clock_timestamp()), unpaid_gas = :gas
from sender before
where l.chain_id = :chain and l.sender = :sender
  and before.chain_id = l.chain_id and before.sender = l.sender
returning before.out_of_gas_since is null as "isNew", exists (
  select from sender other where other.chain_id = l.chain_id and other.sender <> l.sender
    and other.purpose = 'operations' and other.out_of_gas_since is null) as "isReplaceable"`

/** Records that a sender can pay again. */
export async function clearOutOfGas(db: Db, { chainId, address }: SenderKey): Promise<void> {
  await db('sender')
    .where({ chain_id: chainId.toString(), sender: address })
    .update({ out_of_gas_since: null, unpaid_gas: null })
}

/** A sender with its last refill, if any. Wei as text. */
export type RefilledSender = Sender & {
  unpaidGas: string | null
  refillTx: bigint | null
  refillNonce: bigint | null
}

/** The senders of a chain, including the treasury. */
export async function readRefilledSenders(db: Db, chainId: number): Promise<RefilledSender[]> {
  return db('sender as l')
    .leftJoin('chain_tx as t', 't.id', 'l.refill_tx')
    .where('l.chain_id', chainId)
    .orderBy('l.sender')
    .select<RefilledSender[]>(
      'l.chain_id as chainId',
      'l.sender as address',
      'l.kek_id as kekId',
      'l.sealed_key as sealedKey',
      'l.purpose',
      'l.unpaid_gas as unpaidGas',
      'l.refill_tx as refillTx',
      't.nonce as refillNonce',
    )
}

/**
 * Locks a sender that is to be refilled.
 *
 * @returns Its last refill.
 */
export async function lockRefill(
  trx: Db,
  { chainId, address }: SenderKey,
): Promise<bigint | null | undefined> {
  const row = await trx('sender')
    .where({ chain_id: chainId.toString(), sender: address, purpose: 'operations' })
    .forUpdate()
    .first<{ refillTx: bigint | null } | undefined>('refill_tx as refillTx')
  return row?.refillTx
}

export async function setRefill(
  trx: Db,
  { chainId, address }: SenderKey,
  txId: bigint,
): Promise<void> {
  const changed = await trx('sender')
    .where({ chain_id: chainId.toString(), sender: address })
    .update({ refill_tx: txId.toString() })
  if (changed !== 1) throw new Error('The sender does not exist.')
}

/** Wei that a sender has transferred within the last 24 hours. */
export async function sumMoved(trx: Db, { chainId, address }: SenderKey): Promise<bigint> {
  const row = await trx('chain_tx')
    .where({ chain_id: chainId.toString(), sender: address })
    // Bundles transfer no wei, so the index excludes them.
    .where('value_wei', '>', 0)
    .where('created_at', '>', trx.raw(`statement_timestamp() - interval '24 hours'`))
    .first<{ wei: string }>(trx.raw('coalesce(sum(value_wei), 0) as wei'))
  return BigInt(row.wei)
}
