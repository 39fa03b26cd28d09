import { namedColumns } from '../db/client/columns.js'
import { runPrepared, type Statement } from '../db/client/prepared.js'
import type { Db } from '../db/client/connect.js'
import type { OperationKind, OperationState } from '../domain/intent/operation.js'

export type Operation = {
  id: string
  intentId: string
  sequence: number
  kind: OperationKind
  accountId: string
  walletId: string
  chainId: bigint
  chainKey: string
  /** Base units that it spends, as the database derives them. The signer trusts its own reading only. */
  inputUnits: string | null
  minBlock: bigint
  /** Resource that it contends for: `deposit:` or `withdraw:` and a market, `swap:` and a pair, `burn:` and a wallet. */
  resource: string | null
  state: OperationState
  code: string | null
  message: string | null
  retryAfter: Date | null
  refusedBlock: bigint | null
  lostLeases: number
  /** Reverted bundles and rejected attempts since it was last in a block. */
  inclusionFailures: number
  /** Reverted transactions of ours that included it, each of which cost gas. */
  reverts: number
  /** The lowest block that may hold the log of a used key. Null while the key is not known to be used. */
  spentSince: bigint | null
  txId: bigint | null
  success: boolean | null
  txHash: string | null
  units: string | null
  createdAt: Date
  /** The signer's wait reason at its last attempt. Null before that and once signed. */
  waitsFor: string | null
  /** Since when every attempt had this wait reason. */
  waitsSince: Date | null
  /** When its state last changed. Null while queued or deferred. */
  changedAt: Date | null
}

export const operationColumns = [
  'id',
  'intent_id as intentId',
  'sequence',
  'kind',
  'account_id as accountId',
  'wallet_id as walletId',
  'chain_id as chainId',
  'chain_key as chainKey',
  'input_units as inputUnits',
  'min_block as minBlock',
  'resource',
  'state',
  'code',
  'message',
  'retry_after as retryAfter',
  'refused_block as refusedBlock',
  'lost_leases as lostLeases',
  'inclusion_failures as inclusionFailures',
  'reverts',
  'spent_since as spentSince',
  'tx_id as txId',
  'success',
  'tx_hash as txHash',
  'units',
  'created_at as createdAt',
  'waits_for as waitsFor',
  'waits_since as waitsSince',
  'changed_at as changedAt',
]

export type Submission = Pick<
  Operation,
  'id' | 'intentId' | 'sequence' | 'kind' | 'accountId' | 'walletId'
> & { chainId: number }

export async function findOperation(db: Db, id: string): Promise<Operation | undefined> {
  return db('operation').where({ id }).first<Operation | undefined>(operationColumns)
}

/** `row`: undefined when nothing is to be executed. `isNew`: this call inserted it. */
type OrderedOperation = { row: Operation | undefined; isNew: boolean }

/**
 * Inserts an operation if its open intent has it in its plan, for execution at or after the currently indexed block. The
 * first operation changes the intent to `executing`. An existing operation is returned.
 */
export async function orderOperation(db: Db, submission: Submission): Promise<OrderedOperation> {
  const { id, intentId, sequence, kind, accountId, walletId, chainId } = submission
  const values = [id, intentId, sequence, kind, accountId, walletId, chainId]
  const [found] = await runPrepared<Operation & { isNew: boolean }>(db, orderStatement, values)
  if (!found) throw new Error('The operation was not ordered.')
  const { isNew, ...row } = found
  // All columns are null when there is no row.
  return { row: (row.id as string | null) === null ? undefined : row, isNew }
}

const orderStatement: Statement = {
  name: 'order operation',
  text: `select r.is_new as "isNew", ${namedColumns('(r.o)', operationColumns)}
    from order_operation($1, $2, $3, $4, $5, $6, $7) as r`,
}

/** Inserts an operation with a known key, for execution at or after the currently indexed block. */
export async function insertOperation(
  trx: Db,
  submission: Submission & { chainKey: string },
): Promise<Operation> {
  const { chainId } = submission
  const [row] = await trx('operation')
    .insert({
      id: submission.id,
      intent_id: submission.intentId,
      sequence: submission.sequence,
      kind: submission.kind,
      account_id: submission.accountId,
      wallet_id: submission.walletId,
      chain_id: chainId,
      chain_key: submission.chainKey,
      min_block: trx.raw('coalesce((select indexed_block from chain where id = ?), 0)', [chainId]),
    })
    .returning<Operation[]>(operationColumns)
  if (!row) throw new Error('The operation was not stored.')
  return row
}

/**
 * Requeues a deferred operation once its delay has passed. The database renews its amount and the key of a mint: a reorg
 * that moves a burn to another transaction changes its message.
 */
export async function requeueOperation(trx: Db, id: string): Promise<Operation | undefined> {
  const [row] = await trx('operation')
    .where({ id, state: 'deferred' })
    .whereRaw('retry_after <= clock_timestamp()')
    .update({ state: 'queued' })
    .returning<Operation[]>(operationColumns)
  return row
}

/**
 * Ends an unsigned operation with the code of its last attempt, or NETWORK_ERROR without an attempt. No-op when it is
 * signed or ended. Never ends a mint, nor an operation that the chain has executed although its log is not found yet.
 */
export async function expireOperation(db: Db, id: string): Promise<void> {
  await db('operation')
    .where({ id })
    .whereNot({ kind: 'mint' })
    .whereNull('spent_since')
    .whereIn('state', ['queued', 'deferred'])
    .update({
      state: 'cancelled',
      code: db.raw(`coalesce(code, 'NETWORK_ERROR')`),
      message: db.raw(`coalesce(message, 'It was not attempted in time.')`),
      lease_owner: null,
      leased_until: null,
    })
}

/** The operations of an intent, in the order of its steps. */
export async function readOperations(db: Db, intentId: string): Promise<Operation[]> {
  return db('operation')
    .where({ intent_id: intentId })
    .orderBy(['sequence', 'created_at'])
    .select<Operation[]>(operationColumns)
}

/** True while a withdrawal of the wallet may be executed on the chain after the block `head`. */
export async function hasOpenWithdrawal(
  db: Db,
  { walletId, chainId }: Pick<Operation, 'walletId' | 'chainId'>,
  head: bigint,
): Promise<boolean> {
  const found = await db('operation')
    .where({ wallet_id: walletId, chain_id: chainId.toString(), kind: 'withdraw' })
    .where((open) => {
      void open
        .whereIn('state', ['queued', 'deferred', 'signed'])
        .orWhere((mined) => void mined.where('block_number', '>', head.toString()))
    })
    .first<{ id: string } | undefined>('id')
  return found !== undefined
}
