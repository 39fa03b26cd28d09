import { Steward } from '@steward/sdk'
import type { Event } from '@steward/sdk'
import type { Session } from '../session.js'

export type TailFilter = { type?: string[]; walletId?: string; intentId?: string; after?: string }

/**
 * Reads every event of the account once, in the order of emission, until Ctrl-C. An interrupted stream resumes after
 * the last event, and a note reports the interruption.
 *
 * @param onEvent - Awaited before the next event. Returns false to stop.
 */
export async function tailEvents(
  session: Session,
  filter: TailFilter,
  onEvent: (event: Event) => boolean | Promise<boolean>,
): Promise<void> {
  const signal = session.io.interrupted
  // A stream retries for ever. This call fails at once for a wrong address or key.
  await session.steward.events.list({ limit: 1 }, { signal })
  const { apiKey, baseUrl } = session.access
  const steward = new Steward({ apiKey, baseUrl, fetch: noteOutages(session) })
  try {
    for await (const event of steward.events.stream({ ...filter, signal })) {
      if (!(await onEvent(event))) return
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** A `fetch` that prints a note when the service becomes unavailable, and when it is available again. */
function noteOutages({ say, io }: Session): typeof fetch {
  let wasDown = false
  const note = (isDown: boolean) => {
    if (isDown === wasDown || io.interrupted.aborted) return
    wasDown = isDown
    say.note(isDown ? '! Connection lost. Reconnecting …' : '  Reconnected.')
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
