import { keepSession } from './session.js'

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

/** Hears on one connection of intents and fundings that are stored, until the signal aborts. */
export function listenToStarts(url: string, stopping: AbortSignal, onStored: () => void): void {
  void keepListening(url, stopping, { channel: 'start', onPayload: onStored })
}

/** `onPayload` gets undefined when something may have been missed. */
type Hearing = {
  channel: 'operation' | 'intent_event' | 'start'
  onPayload(payload: string | undefined): void
}

/** While the server is away, the rows hold everything; only the announcement is missing. */
function keepListening(
  url: string,
  stopping: AbortSignal,
  { channel, onPayload }: Hearing,
): Promise<void> {
  return keepSession(url, stopping, async (session) => {
    session.on('notification', ({ payload }) => {
      onPayload(payload)
    })
    await session.query(`listen ${channel}`)
    onPayload(undefined)
  })
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
