import { hash } from 'node:crypto'
import { readHorizon } from '../../db/intents/events.js'
import type { Services } from '../http/services.js'

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
 * Reads an intent until it is another than the client knows, but no longer than he wants to wait, or this process
 * may. It is read anew whenever something has happened to it, from before the first reading on: nothing is missed.
 */
export async function readChanged(
  { db, streams }: Pick<Services, 'db' | 'streams'>,
  { accountId, intentId, seconds, version, gone }: Waiting,
  read: () => Promise<State>,
): Promise<State> {
  const leaveSeat = streams.takeSeat(accountId)
  const bell = createBell(1_000 * seconds, [gone, streams.closing])
  let leave: (() => void) | undefined
  try {
    leave = await hear()
    let state = await read()
    while (state.version === version && !state.isOver && !bell.isOver()) {
      await bell.rings()
      state = await read()
    }
    return state
  } finally {
    leave?.()
    bell.remove()
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

/**
 * `rings` resolves when it was rung since the last time, or the end has come: after so long, or when one of the signals
 * aborts. To be removed: by AbortSignal.any each would leave a trace at signals that live as long as the process.
 */
function createBell(ms: number, signals: AbortSignal[]) {
  let wasRung = false
  let isOver = signals.some(({ aborted }) => aborted)
  let wake = () => undefined as void
  const end = () => {
    isOver = true
    wake()
  }
  const timer = setTimeout(end, ms)
  for (const signal of signals) signal.addEventListener('abort', end)
  return {
    isOver: () => isOver,
    ring(): void {
      wasRung = true
      wake()
    },
    async rings(): Promise<void> {
      if (!wasRung && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      wasRung = false
    },
    remove(): void {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', end)
    },
  }
}
