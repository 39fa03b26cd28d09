import { lockIntent } from '../db/intents/intents.js'
import { setExecuting } from '../db/intents/status.js'
import {
  expireOperation,
  findOperation,
  insertOperation,
  requeueOperation,
  type Operation,
  type OperationInput,
} from '../db/lanes/operations.js'
import { isTerminal } from '../domain/intent.js'
import { chainKeyOf, operationId } from './operationId.js'
import { outcomeOf } from './outcome.js'
import type { Db } from '../db/connection/connect.js'
import type { Intent } from '../db/intents/intents.js'
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
  const { kind, intentId, sequence } = order
  const id = operationId(intentId, sequence, kind)
  return db.transaction(async (trx) => {
    const intent = kind === 'fund' ? undefined : await lockIntent(trx, intentId)
    const known = await findOperation(trx, id)
    const chainKey = keyOf(order, id)
    if (known?.state === 'deferred') {
      return (await requeueOperation(trx, id, { chainKey, input: order.input })) ?? known
    }
    if (known) return known
    if (intent && !isWanted(intent, order)) return undefined
    if (intent?.status === 'planning') await setExecuting(trx, intent.id)
    const row = await insertOperation(trx, { ...order, id, chainKey })
    await open?.(trx, id)
    return row
  })
}

/** The plan in the row counts: what a workflow takes for it may have been given to it by hand. */
function isWanted({ plan, status }: Intent, { kind, sequence }: OperationOrder | MintOrder) {
  if (kind === 'mint') return true
  if (isTerminal(status)) return false
  return plan?.steps.some((step) => step.sequence === sequence && step.type === kind) === true
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
  outcomes: Outcomes
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
    latest = (await findOperation(db, row.id)) ?? latest
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
