import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { RETRY_MS } from '../../runtime/durations.js'

const PROBE_AFTER_MS = 10_000

/**
 * Keeps a dedicated session open, and reopens it when lost, until the signal aborts.
 *
 * @param url - URL of the database without a pooler in between.
 * @param begin - Runs first in each new session. When it fails, the session counts as lost.
 * @returns Resolves when the last session has ended.
 */
export async function keepSession(
  url: string,
  stopping: AbortSignal,
  begin: (session: pg.Client) => Promise<unknown>,
): Promise<void> {
  while (!stopping.aborted) {
    const session = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 3_000,
      // The session is mostly idle. Without keep-alive it would not detect an unreachable server.
      keepAlive: true,
      keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    })
    const lost = untilLost(session, stopping)
    try {
      await session.connect()
      await begin(session)
      await lost
    } catch {
      // The server is unreachable.
    } finally {
      await session.end().catch(() => undefined)
    }
    await sleep(RETRY_MS, undefined, { signal: stopping, ref: false }).catch(() => undefined)
  }
}

function untilLost(session: pg.Client, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stopping.removeEventListener('abort', end)
      resolve()
    }
    session.on('error', end)
    session.on('end', end)
    stopping.addEventListener('abort', end)
  })
}
