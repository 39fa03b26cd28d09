import { Steward } from '@steward/sdk'
import type { Event } from '@steward/sdk'
import type { Session } from '../session.js'

export type EventFilter = { type?: string[]; walletId?: string; intentId?: string; after?: string }

/**
 * Every event of the account, in the order in which they are told, each once, until Ctrl-C. A stream that is cut goes on
 * after the last event; that it was cut is told to people.
 *
 * @param onEvent - Awaited before the next one. Returns false when it has had enough.
 */
export async function tailEvents(
  session: Session,
  filter: EventFilter,
  onEvent: (event: Event) => boolean | Promise<boolean>,
): Promise<void> {
  const signal = session.io.interrupted
  // A stream is tried again for ever: a wrong address or key is told at once.
  await session.steward.events.list({ limit: 1 }, { signal })
  const { apiKey, baseUrl } = session.access
  const steward = new Steward({ apiKey, baseUrl, fetch: noteCuts(session) })
  try {
    for await (const event of steward.events.stream({ ...filter, signal })) {
      if (!(await onEvent(event))) return
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Tells when the service has gone, once, and when it is back. */
function noteCuts({ say, io }: Session): typeof fetch {
  let isCut = false
  const note = (isGone: boolean) => {
    if (isGone === isCut || io.interrupted.aborted) return
    isCut = isGone
    say.note(isGone ? '! Cut off: goes on when the service is back …' : '  The service is back.')
  }
  return async (...call) => {
    try {
      const response = await fetch(...call)
      note(response.status >= 500)
      return response
    } catch (error) {
      note(true)
      throw error
    }
  }
}
