import { runPrepared, type Statement } from '../../db/client/prepared.js'
import type { Db } from '../../db/client/connect.js'
import type { OperationKind, OperationState } from '../../domain/intent/operation.js'

/** An operation that logs may concern. */
export type WatchedOperation = {
  id: string
  intentId: string
  sequence: number
  kind: OperationKind
  chainKey: string
  state: OperationState
  blockHash: string | null
  wallet: string
  treasury: string | null
}

/** True when a log of a new block may concern one of our operations. A reorg reopens operations. */
export async function hasOpenOperations(db: Db, chainId: number): Promise<boolean> {
  const row = await db('operation')
    .where({ chain_id: chainId })
    .whereIn('state', ['queued', 'deferred', 'signed'])
    .first<{ id: string } | undefined>('id')
  return row !== undefined
}

/** True when blocks of the chain may still matter: an operation or a transaction of ours is open or not final. */
export async function isInUse(db: Db, chainId: number): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { used: boolean }[] }>(IN_USE, [chainId, chainId])
  return rows[0]?.used ?? true
}

const IN_USE = `
select exists (select from operation where chain_id = ?
    and state in ('queued', 'deferred', 'signed', 'mined', 'confirmed'))
  or exists (select from chain_tx where chain_id = ? and state in ('open', 'mined')) as used`

/** `isExposed`: it can have been executed, because its signature was sent or its key is known to be used. */
type KeyedOperation = WatchedOperation & { isExposed: boolean }

export async function findOperationsByKey(
  db: Db,
  chainId: number,
  keys: string[],
): Promise<KeyedOperation[]> {
  return runPrepared<KeyedOperation>(db, byKeyStatement, [chainId, keys])
}

/** An operation whose key is used on the chain without an indexed log, and the lowest block that may hold the log. */
export type SpentOperation = WatchedOperation & { spentSince: bigint }

export async function findSpentOperations(db: Db, chainId: number): Promise<SpentOperation[]> {
  return runPrepared<SpentOperation>(db, spentStatement, [chainId])
}

// Parameters in subqueries, here and below, so that the generic plan is reused.
const WATCHED = `
  select o.id, o.intent_id as "intentId", o.sequence, o.kind, o.chain_key as "chainKey", o.state,
    o.block_hash as "blockHash", o.spent_since as "spentSince",
    o.spent_since is not null or g.sent_at is not null as "isExposed", w.address as wallet, t.address as treasury
  from operation o join wallet w on w.id = o.wallet_id left join treasury t on true
    left join signature g on g.operation_id = o.id
  where o.chain_id = (select $1::bigint)`
const byKeyStatement: Statement = {
  name: 'watched by key',
  text: `${WATCHED} and o.chain_key = any ((select $2)::text[])`,
}
const spentStatement: Statement = {
  name: 'watched and spent',
  text: `${WATCHED} and o.spent_since is not null and o.state in ('queued', 'deferred', 'signed')
    order by o.created_at`,
}

/** `refusals`: consecutive permanent rejections by all endpoints. `isAnswered`: a node has responded to these bytes. */
export type OpenSend = {
  txId: bigint
  sender: string
  nonce: bigint
  n: number
  hash: string
  refusals: number
  isAnswered: boolean
}

/** All sends of unmined transactions, in nonce order per sender. */
export async function readOpenSends(db: Db, chainId: number): Promise<OpenSend[]> {
  return runPrepared<OpenSend>(db, openStatement, [chainId])
}

const openStatement: Statement = {
  name: 'open sends',
  text: `select t.id as "txId", t.sender, t.nonce, s.n, s.hash, s.refusals,
      s.sent_at is not null as "isAnswered"
    from chain_tx t join chain_tx_send s on s.tx_id = t.id
    where t.chain_id = (select $1::bigint) and t.state = 'open'
    order by t.sender, t.nonce, s.n`,
}
