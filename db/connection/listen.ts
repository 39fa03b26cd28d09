import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/**
 * A change of an operation's row, as the database announces it; `attested`: its burn has got a message, of which no
 * chain is told.
 */
export type OperationChange = { id: string; state: string; chainId?: number | undefined }

/** Called for each change; with undefined when some may have been missed: look at the rows then. */
export type OnChange = (change: OperationChange | undefined) => void

/** One connection that hears of operations for the whole process. */
export type Listener = {
  /** @returns A function that ends the subscription. */
  subscribe(onChange: OnChange): () => void
}

const RECONNECT_MS = 500
const PROBE_AFTER_MS = 10_000

/** Listens on one connection, made anew when it is lost, until the signal aborts. */
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
 * Hears on one connection of accounts to whose intents something has happened, until the signal aborts.
 *
 * @param onAccount - Called with the account; with undefined when some may have been missed.
 */
export function listenToEvents(
  url: string,
  stopping: AbortSignal,
  onAccount: (accountId: string | undefined) => void,
): void {
  void keepListening(url, stopping, { channel: 'intent_event', onPayload: onAccount })
}

/** `onPayload` gets undefined when something may have been missed. */
type Hearing = {
  channel: 'operation' | 'intent_event'
  onPayload(payload: string | undefined): void
}

async function keepListening(url: string, stopping: AbortSignal, hear: Hearing): Promise<void> {
  while (!stopping.aborted) {
    const session = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 3_000,
      // Nothing is ever sent on it, so that it would not notice that the server is gone without a word.
      keepAlive: true,
      keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    })
    try {
      await listenOnce(session, stopping, hear)
    } catch {
      // The server is away. The rows hold everything; only the announcement is missing.
    } finally {
      await session.end().catch(() => undefined)
    }
    if (!stopping.aborted) await sleep(RECONNECT_MS, undefined, { ref: false })
  }
}

async function listenOnce(
  session: pg.Client,
  stopping: AbortSignal,
  { channel, onPayload }: Hearing,
): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      stopping.removeEventListener('abort', end)
      resolve()
    }
    session.on('error', end)
    session.on('end', end)
    stopping.addEventListener('abort', end)
  })
  session.on('notification', ({ payload }) => {
    onPayload(payload)
  })
  await session.connect()
  await session.query(`listen ${channel}`)
  onPayload(undefined)
  await ended
}

/** What many rows come to together is announced together. */
type Announced = { state: string; chainId?: number } & ({ id: string } | { ids: string[] })

/** Any session may announce anything on the channel: what cannot be read means to look at the rows. */
function readChanges(payload?: string): (OperationChange | undefined)[] {
  try {
    const { state, chainId, ...announced } = JSON.parse(payload ?? '') as Announced
    const ids = 'ids' in announced ? announced.ids : [announced.id]
    return ids.map((id) => ({ id, state, chainId }))
  } catch {
    return [undefined]
  }
}
