import {
  expireOperation,
  findOperation,
  orderOperation,
  requeueOperation,
  type Operation,
  type Submission,
} from './operations.js'
import { operationId } from './operationId.js'
import type { Db } from '../db/client/connect.js'

export type OperationOrder = Omit<Submission, 'id'>

/**
 * Queues an order for the signer. Safe to repeat: the operation is one row, and a second call finds it. A deferred row
 * that is due returns to the queue. The database derives amount and key.
 *
 * @param open - Writes the data that belongs to a new row, in its transaction.
 * @returns The row; undefined when the intent is finished or its plan has no such step. A mint is stored in any state
 *   of its intent.
 */
export async function submitOperation(
  db: Db,
  order: OperationOrder,
  open?: (trx: Db, id: string) => Promise<void>,
): Promise<Operation | undefined> {
  const id = operationId(order.intentId, order.sequence, order.kind)
  const submission = { ...order, id }
  const row = await orderWith(db, submission, open)
  if (row?.state !== 'deferred') return row
  return (await requeueOperation(db, id)) ?? row
}

/** Without `open`, the single statement is its own transaction. */
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

/**
 * Expires an operation that is not signed yet. A row that was signed first is returned unchanged: it ends by its own
 * log only.
 */
export async function giveUpOperation(db: Db, row: Operation): Promise<Operation> {
  await expireOperation(db, row.id)
  return (await findOperation(db, row.id)) ?? row
}
