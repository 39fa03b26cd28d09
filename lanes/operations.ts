import {
  expireOperation,
  findLatest,
  findOperation,
  orderOperation,
  requeueOperation,
  type Operation,
  type OperationInput,
  type Submission,
} from '../db/lanes/operations.js'
import { chainKeyOf, operationId } from './operationId.js'
import { outcomeOf } from './outcome.js'
import type { Db } from '../db/connection/connect.js'
import type { OperationKind } from '../domain/operation.js'
import type { Outcomes } from './watching.js'

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

type Waiting = {
  db: Db
  outcomes: Pick<Outcomes, 'nextChange'>
  /** Is shown the row as long as its outcome is not known. */
  watch?: (row: Operation) => Promise<Watch>
}

/** When the row is to be read again: after so many milliseconds though nothing has changed, and in another state. */
export type Watch = { againMs: number | undefined; ofEachState: boolean }

/**
 * Reads the row until its outcome is known or the signal aborts; then as it is.
 *
 * @param row - As it was a moment ago. What has changed since is found when all who wait are looked at next.
 */
export async function awaitOperation(
  { db, outcomes, watch }: Waiting,
  row: Operation,
  signal: AbortSignal,
): Promise<Operation> {
  let latest = row
  let change = outcomes.nextChange(row.id, signal)
  while (outcomeOf(latest).kind === 'waiting' && !signal.aborted) {
    const again = await watch?.(latest)
    if (again?.ofEachState) change = outcomes.nextChange(row.id, signal, latest.state)
    await orAfter(change, again?.againMs)
    // Registered before reading: a change between the two wakes the wait.
    change = outcomes.nextChange(row.id, signal)
    latest = (await findLatest(db, row.id)) ?? latest
  }
  return latest
}

/** Resolves with the change, or after the given milliseconds, where there are any. */
export async function orAfter(change: Promise<void>, ms: number | undefined): Promise<void> {
  if (ms === undefined) return change
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([change, late])
  clearTimeout(timer)
}
