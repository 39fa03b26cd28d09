import { hash } from 'node:crypto'
import { createBell } from '../../../bell.js'
import { readHorizon } from '../../../db/intents/events.js'
import type { Services } from '../../http/services.js'

/** What a resource is now. `isOver`: it is not expected to change any more. */
export type State = { body: unknown; version: string; isOver: boolean }

/** Names what a body says: the same for the same. */
export const versionOf = (body: unknown): string =>
  hash('sha256', JSON.stringify(body), 'base64url').slice(0, 22)

export type Waiting = {
  accountId: string
  intentId: string
  seconds: number
  /** What the client knows already. */
  version: string
  gone: AbortSignal
}

/**
 * Reads an intent until it is another than the client knows, but no longer than the client wants to wait, or this
 * process runs. It is read again whenever something has happened to it, from before the first reading on.
 */
export async function readChanged(
  { db, streams }: Pick<Services, 'db' | 'streams'>,
  { accountId, intentId, seconds, version, gone }: Waiting,
  read: () => Promise<State>,
): Promise<State> {
  const leaveSeat = streams.takeSeat(accountId)
  const until = Date.now() + 1_000 * seconds
  const bell = createBell()
  const isOver = () => gone.aborted || streams.closing.aborted || Date.now() >= until
  streams.closing.addEventListener('abort', bell.ring)
  let leave: (() => void) | undefined
  try {
    leave = await hear()
    let state = await read()
    while (state.version === version && !state.isOver && !isOver()) {
      await bell.wait(until - Date.now(), gone)
      state = await read()
    }
    return state
  } finally {
    leave?.()
    streams.closing.removeEventListener('abort', bell.ring)
    leaveSeat()
  }

  async function hear(): Promise<() => void> {
    for (;;) {
      const subscriber = { filter: { intentId }, onEvents: bell.ring }
      const left = streams.feed.join(accountId, await readHorizon(db), subscriber)
      if (left) return left
    }
  }
}
