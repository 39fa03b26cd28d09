import { keepSession } from './session.js'
import type { Db } from './connect.js'

/**
 * A change of an operation, as announced by the database. State `attested`: its burn has an attested message. That change
 * has no chain.
 */
export type OperationChange = { id: string; state: string; chainId?: number | undefined }

/** Announced like a state of an operation, when a plan waits for the newest blocks of a chain. */
export const INDEX_WANTED = 'index wanted'

/** Wakes the indexer of a chain, which looks rarely while nothing is open. */
export async function wantIndexed(db: Db, chainId: number): Promise<void> {
  const change = JSON.stringify({ id: '', state: INDEX_WANTED, chainId })
  await db.raw(`select pg_notify('operation', ?)`, [change])
}

/** Called for each change. Called with undefined when changes may have been missed: read the rows then. */
export type OnChange = (change: OperationChange | undefined) => void

/** One connection that receives the changes of operations for the whole process. */
export type Listener = {
  /** @returns A function that ends the subscription. */
  subscribe(onChange: OnChange): () => void
}

/** Listens on one connection, which is reopened when lost, until the signal aborts. */
export function listenToOperations(url: string, stopping: AbortSignal): Listener {
  const subscribers = new Set<OnChange>()
  const publish: OnChange = (change) => {
    for (const subscriber of subscribers) subscriber(change)
  }
  void keepListening(url, stopping, {
    channel: 'operation',
    onPayload(payload) {
      for (const change of readChanges(payload)) publish(change)
    },
  })
  return {
    subscribe(onChange) {
      subscribers.add(onChange)
      return () => subscribers.delete(onChange)
    },
  }
}

/**
 * Listens for accounts with new events on one connection, until the signal aborts.
 *
 * @param onAccount - Called with the account. Called with undefined when events may have been missed.
 */
export function listenToEvents(
  url: string,
  stopping: AbortSignal,
  onAccount: (accountId: string | undefined) => void,
): void {
  void keepListening(url, stopping, { channel: 'intent_event', onPayload: onAccount })
}

/** Listens for new intents and fundings on one connection, until the signal aborts. */
export function listenToStarts(url: string, stopping: AbortSignal, onStored: () => void): void {
  void keepListening(url, stopping, { channel: 'start', onPayload: onStored })
}

/** `onPayload` receives undefined when notifications may have been missed. */
type Subscription = {
  channel: 'operation' | 'intent_event' | 'start'
  onPayload(payload: string | undefined): void
}

/** While the server is unreachable only notifications are lost. The rows are complete. */
function keepListening(
  url: string,
  stopping: AbortSignal,
  { channel, onPayload }: Subscription,
): Promise<void> {
  return keepSession(url, stopping, async (session) => {
    session.on('notification', ({ payload }) => {
      onPayload(payload)
    })
    await session.query(`listen ${channel}`)
    onPayload(undefined)
  })
}

/** Rows with the same state are announced together. */
type Announced = { state: string; chainId?: number } & ({ id: string } | { ids: string[] })

/** Any session can send any payload. An unreadable one counts as missed changes. */
function readChanges(payload?: string): (OperationChange | undefined)[] {
  try {
    const { state, chainId, ...announced } = JSON.parse(payload ?? '') as Announced
    const ids = 'ids' in announced ? announced.ids : [announced.id]
    return ids.map((id) => ({ id, state, chainId }))
  } catch {
    return [undefined]
  }
}
