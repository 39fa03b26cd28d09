import {
  expireOperation,
  findOperation,
  orderOperation,
  requeueOperation,
  type Operation,
  type OperationInput,
  type Submission,
} from '../db/lanes/operations.js'
import { chainKeyOf, operationId } from './operationId.js'
import type { Db } from '../db/connection/connect.js'
import type { OperationKind } from '../domain/operation.js'

export type OperationOrder = {
  intentId: string
  sequence: number
  kind: Exclude<OperationKind, 'mint'>
  accountId: string
  walletId: string
  chainId: number
  input: OperationInput
}

/** Brings burned money out. `nonce` is that of its attested message, its key on the chain. */
export type MintOrder = Omit<OperationOrder, 'kind'> & { kind: 'mint'; nonce: string }

/**
 * Hands an order to the lanes. Safe to repeat: the operation is one row, a second call finds the first
 * one's. A deferred row whose time has come goes back in the queue with the fresh input.
 *
 * @param open - Writes what belongs to a new row, in its transaction.
 * @returns The row; undefined when there is none, because the intent is over or its plan has no such step. A mint
 *   is stored whatever has become of its intent.
 */
export async function submitOperation(
  db: Db,
  order: OperationOrder | MintOrder,
  open?: (trx: Db, id: string) => Promise<void>,
): Promise<Operation | undefined> {
  const id = operationId(order.intentId, order.sequence, order.kind)
  const submission = { ...order, id, chainKey: keyOf(order, id) }
  const row = await orderWith(db, submission, open)
  if (row?.state !== 'deferred') return row
  return (await requeueOperation(db, id, submission)) ?? row
}

/** One statement is a transaction of its own. */
async function orderWith(
  db: Db,
  submission: Submission,
  open: ((trx: Db, id: string) => Promise<void>) | undefined,
): Promise<Operation | undefined> {
  if (!open) return (await orderOperation(db, submission)).row
  return db.transaction(async (trx) => {
    const { row, isNew } = await orderOperation(trx, submission)
    if (isNew) await open(trx, submission.id)
    return row
  })
}

const keyOf = (order: OperationOrder | MintOrder, id: string) =>
  order.kind === 'mint' ? order.nonce : chainKeyOf(order.kind, id)

/**
 * Ends an operation of which nothing was signed yet, because its time is over. A row whose signature
 * came first is returned as it is: it ends by its own log only.
 */
export async function giveUpOperation(db: Db, row: Operation): Promise<Operation> {
  await expireOperation(db, row.id)
  return (await findOperation(db, row.id)) ?? row
}
