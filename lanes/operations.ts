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
import type { Listener } from '../db/connection/listen.js'
import type { OperationKind } from '../domain/operation.js'

/** Announcements may be lost with their connection: this often a waiting reader looks by itself. */
const POLL_MS = 1_000

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

/** Waits for changes of operations, however many wait. */
export type Outcomes = {
  /** Resolves when the row may have changed, at the latest after a second. */
  nextChange(id: string, signal: AbortSignal): Promise<void>
}

export function watchOutcomes(listener: Listener): Outcomes {
  const waiting = new Map<string, Set<() => void>>()
  const wake = (id: string) => {
    for (const resolve of waiting.get(id) ?? []) resolve()
  }
  listener.subscribe((change) => {
    for (const id of change ? [change.id] : waiting.keys()) wake(id)
  })
  return {
    nextChange(id, signal) {
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          const others = waiting.get(id)
          others?.delete(done)
          if (others?.size === 0) waiting.delete(id)
          resolve()
        }
        const timer = setTimeout(done, POLL_MS)
        signal.addEventListener('abort', done)
        if (signal.aborted) done()
        else waiting.set(id, (waiting.get(id) ?? new Set()).add(done))
      })
    },
  }
}

type Waiting = {
  db: Db
  outcomes: Outcomes
  /** Is shown the row as long as its outcome is not known. */
  watch?: (row: Operation) => Promise<void>
}

/** Reads the row until its outcome is known or the signal aborts; then as it is. */
export async function awaitOperation(
  { db, outcomes, watch }: Waiting,
  row: Operation,
  signal: AbortSignal,
): Promise<Operation> {
  let latest = row
  while (outcomeOf(latest).kind === 'waiting' && !signal.aborted) {
    const change = outcomes.nextChange(row.id, signal)
    // Registered before reading: a change between the two wakes the wait.
    latest = (await findOperation(db, row.id)) ?? latest
    if (outcomeOf(latest).kind !== 'waiting') break
    await watch?.(latest)
    await change
  }
  return latest
}
