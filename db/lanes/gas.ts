import { runPrepared, type Statement } from '../connection/prepared.js'
import type { Db } from '../connection/connect.js'
import type { Lane } from './signing.js'

type Sender = Pick<Lane, 'chainId' | 'sender'>

/** The most gas that a transaction may have. @see https://eips.ethereum.org/EIPS/eip-7825 */
const MOST_GAS = 2n ** 24n

/** The most that a transaction `t` may cost: at the highest fee of its sends, with L1 and what it moves. */
const costOf = `coalesce(t.gas_limit, ${MOST_GAS})
    * (select max(s.max_fee) from chain_tx_send s where s.tx_id = t.id) + t.l1_fee_wei + t.value_wei`

/**
 * The most that the transactions of a sender from a nonce on may cost, wei: those that the chain had not executed
 * yet when it told how many it had.
 */
export async function sumCosts(
  trx: Db,
  { chainId, sender }: Sender,
  fromNonce: bigint,
): Promise<bigint> {
  const values = [chainId.toString(), sender, fromNonce.toString()]
  const [row] = await runPrepared<{ wei: string }>(trx, costsStatement, values)
  if (!row) throw new Error('A sum is always told.')
  return BigInt(row.wei)
}

const costsStatement: Statement = {
  name: 'costs of a sender',
  // Of a sender and a nonce that the planner does not know, or it would plan anew for each call.
  text: `select coalesce(sum(${costOf}), 0) as wei from chain_tx t
    where t.chain_id = (select $1::bigint) and t.sender = (select $2) and t.nonce >= (select $3::bigint)`,
}

/**
 * Notes that a lane cannot pay for so much gas.
 *
 * @returns Whether that was not known yet, and whether another lane of its chain can pay.
 */
export async function setDry(
  db: Db,
  { chainId, sender }: Sender,
  gas: bigint,
): Promise<{ isNews: boolean; isReplaceable: boolean }> {
  const { rows } = await db.raw<{ rows: { isNews: boolean; isReplaceable: boolean }[] }>(SET_DRY, {
    chain: chainId.toString(),
    sender,
    gas: gas.toString(),
  })
  const [row] = rows
  if (!row) throw new Error('There is no such lane.')
  return row
}

const SET_DRY = `
update lane l set dry_since = coalesce(l.dry_since, clock_timestamp()), dry_gas = :gas
from lane before
where l.chain_id = :chain and l.sender = :sender
  and before.chain_id = l.chain_id and before.sender = l.sender
returning before.dry_since is null as "isNews", exists (
  select from lane other where other.chain_id = l.chain_id and other.sender <> l.sender
    and other.purpose = 'operations' and other.dry_since is null) as "isReplaceable"`

/** Notes that a lane can pay again. */
export async function clearDry(db: Db, { chainId, sender }: Sender): Promise<void> {
  await db('lane')
    .where({ chain_id: chainId.toString(), sender })
    .update({ dry_since: null, dry_gas: null })
}

/** A lane with the last transfer that the treasury made to it, if there ever was one. Wei as text. */
export type RefilledLane = Lane & {
  dryGas: string | null
  refillTx: bigint | null
  refillNonce: bigint | null
}

/** Whoever sends on a chain, the treasury among them. */
export async function readRefilledLanes(db: Db, chainId: number): Promise<RefilledLane[]> {
  return db('lane as l')
    .leftJoin('chain_tx as t', 't.id', 'l.refill_tx')
    .where('l.chain_id', chainId)
    .orderBy('l.sender')
    .select<RefilledLane[]>(
      'l.chain_id as chainId',
      'l.sender',
      'l.kek_id as kekId',
      'l.sealed_key as sealedKey',
      'l.purpose',
      'l.dry_gas as dryGas',
      'l.refill_tx as refillTx',
      't.nonce as refillNonce',
    )
}

/**
 * Locks a lane that is to be refilled.
 *
 * @returns The last transfer to it.
 */
export async function lockRefill(
  trx: Db,
  { chainId, sender }: Sender,
): Promise<bigint | null | undefined> {
  const row = await trx('lane')
    .where({ chain_id: chainId.toString(), sender, purpose: 'operations' })
    .forUpdate()
    .first<{ refillTx: bigint | null } | undefined>('refill_tx as refillTx')
  return row?.refillTx
}

export async function setRefill(trx: Db, { chainId, sender }: Sender, txId: bigint): Promise<void> {
  const changed = await trx('lane')
    .where({ chain_id: chainId.toString(), sender })
    .update({ refill_tx: txId.toString() })
  if (changed !== 1) throw new Error('There is no such lane.')
}

/** Wei that a sender has moved within the last 24 hours. */
export async function sumMoved(trx: Db, { chainId, sender }: Sender): Promise<bigint> {
  const row = await trx('chain_tx')
    .where({ chain_id: chainId.toString(), sender })
    // Of a lane that carries operations none does: they are not looked through.
    .where('value_wei', '>', 0)
    .where('created_at', '>', trx.raw(`statement_timestamp() - interval '24 hours'`))
    .first<{ wei: string }>(trx.raw('coalesce(sum(value_wei), 0) as wei'))
  return BigInt(row.wei)
}
