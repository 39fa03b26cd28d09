import type { Db } from '../connection/connect.js'
import type { OperationKind, OperationState } from '../../domain/operation.js'

/** An operation that logs may speak of. */
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

/** True when a log of a new block may concern one of our operations. */
export async function hasUnfinalOperations(db: Db, chainId: number): Promise<boolean> {
  const row = await db('operation')
    .where({ chain_id: chainId })
    .whereIn('state', ['queued', 'deferred', 'signed', 'mined', 'confirmed'])
    .first<{ id: string } | undefined>('id')
  return row !== undefined
}

export async function findOperationsByKey(
  db: Db,
  chainId: number,
  keys: string[],
): Promise<WatchedOperation[]> {
  return readWatched(db, chainId).whereIn('o.chain_key', keys)
}

/** An operation whose key is used on the chain while no log of it is booked, and the lowest block it may be in. */
export type SpentOperation = WatchedOperation & { spentSince: bigint }

export async function findSpentOperations(db: Db, chainId: number): Promise<SpentOperation[]> {
  return readWatched<SpentOperation>(db, chainId)
    .whereNotNull('o.spent_since')
    .whereIn('o.state', ['queued', 'deferred', 'signed'])
    .orderBy('o.created_at')
}

const readWatched = <Row = WatchedOperation>(db: Db, chainId: number) =>
  db('operation as o')
    .join('wallet as w', 'w.id', 'o.wallet_id')
    .leftJoin('treasury as t', db.raw('true'))
    .where('o.chain_id', chainId)
    .select<Row[]>(
      'o.id',
      'o.intent_id as intentId',
      'o.sequence',
      'o.kind',
      'o.chain_key as chainKey',
      'o.state',
      'o.block_hash as blockHash',
      'o.spent_since as spentSince',
      'w.address as wallet',
      't.address as treasury',
    )

/** `refusals`: how often in a row every endpoint has refused it for good. */
export type OpenSend = {
  txId: bigint
  sender: string
  nonce: bigint
  n: number
  hash: string
  refusals: number
}

/** All sends of transactions that are not mined yet, in nonce order per lane. */
export async function readOpenSends(db: Db, chainId: number): Promise<OpenSend[]> {
  return db('chain_tx as t')
    .join('chain_tx_send as s', 's.tx_id', 't.id')
    .where({ 't.chain_id': chainId, 't.state': 'open' })
    .orderBy(['t.sender', 't.nonce', 's.n'])
    .select<OpenSend[]>('t.id as txId', 't.sender', 't.nonce', 's.n', 's.hash', 's.refusals')
}
