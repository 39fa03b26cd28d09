import { hash } from 'node:crypto'
import { createNotifier } from '../../runtime/notifier.js'
import { readHorizon } from '../../db/intents/events.js'
import type { EventFilter } from '../../db/intents/events.js'
import type { Services } from '../http/services.js'

/** Current state of a resource. `isOver`: no further change is expected. */
export type State = { body: unknown; version: string; isOver: boolean }

/** A hash of the body. */
export const versionOf = (body: unknown): string =>
  hash('sha256', JSON.stringify(body), 'base64url').slice(0, 22)

export type Waiting = {
  accountId: string
  /** Events after which the resource may have changed. */
  filter: EventFilter
  seconds: number
  /** How often the resource is read without an event, for changes that no event reports. */
  recheckMs?: number
  gone: AbortSignal
  isEnough(state: State): boolean
}

/**
 * Reads a resource until its state is enough, the client's time has passed, or this process stops. The resource is
 * read again after each event that passes the filter, also of the time before the first reading.
 */
export async function readUntil(
  { db, streams }: Pick<Services, 'db' | 'streams'>,
  { accountId, filter, seconds, recheckMs = Infinity, gone, isEnough }: Waiting,
  read: () => Promise<State>,
): Promise<State> {
  const removeStream = streams.takeSeat(accountId)
  const until = Date.now() + 1_000 * seconds
  const notifier = createNotifier()
  const isOver = () => gone.aborted || streams.closing.aborted || Date.now() >= until
  streams.closing.addEventListener('abort', notifier.notify)
  let unsubscribe: (() => void) | undefined
  try {
    unsubscribe = await subscribe()
    let state = await read()
    while (!isEnough(state) && !isOver()) {
      await notifier.wait(Math.min(until - Date.now(), recheckMs), gone)
      state = await read()
    }
    return state
  } finally {
    unsubscribe?.()
    streams.closing.removeEventListener('abort', notifier.notify)
    removeStream()
  }

  async function subscribe(): Promise<() => void> {
    for (;;) {
      const subscriber = { filter, onEvents: notifier.notify }
      const joined = streams.fanOut.join(accountId, await readHorizon(db), subscriber)
      if (joined) return joined
    }
  }
}
