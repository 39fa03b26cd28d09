import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** Namespace of the advisory locks by which processes show that they live. */
export const PRESENCE_LOCK = 7_720
const RECONNECT_MS = 500
const PROBE_AFTER_MS = 10_000
/** Keys of advisory locks have 32 bits; half of them are positive. */
const KEYS = 2 ** 31 - 1

/** A name that says by which lock its bearer shows that it lives: nobody else ever has the same. */
export const createPresentName = (name: string): string => `${name}#${randomInt(1, KEYS)}`

/**
 * Shows that the bearer of a name lives: a session of its own holds the name's lock, which ends with the process,
 * however that ends. Made anew when it is lost, until the signal aborts.
 *
 * @param url - The database without a pooler in between.
 * @returns `held` resolves when it is shown for the first time; `ended` when it is not any more.
 */
export function showPresence(
  url: string,
  name: string,
  stopping: AbortSignal,
): { held: Promise<void>; ended: Promise<void> } {
  let tell: () => void = () => undefined
  const held = new Promise<void>((resolve) => (tell = resolve))
  const ended = keepPresent({ url, key: Number(name.split('#').at(-1)), onHeld: tell }, stopping)
  return { held, ended }
}

type Presence = { url: string; key: number; onHeld: () => void }

async function keepPresent(presence: Presence, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    const session = new pg.Client({
      connectionString: presence.url,
      connectionTimeoutMillis: 3_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    })
    try {
      await holdOnce(session, presence, stopping)
    } catch {
      // The server is away. What it does not show then is tried by others, and refused to the slower one.
    } finally {
      await session.end().catch(() => undefined)
    }
    await sleep(RECONNECT_MS, undefined, { signal: stopping }).catch(() => undefined)
  }
}

async function holdOnce(
  session: pg.Client,
  { key, onHeld }: Presence,
  stopping: AbortSignal,
): Promise<void> {
  const lost = new Promise<void>((resolve) => {
    const end = () => {
      stopping.removeEventListener('abort', end)
      resolve()
    }
    session.on('error', end)
    session.on('end', end)
    stopping.addEventListener('abort', end)
    if (stopping.aborted) end()
  })
  await session.connect()
  // Shared: the server may not have noticed yet that an earlier session of ours is lost.
  await session.query('select pg_advisory_lock_shared($1, $2)', [PRESENCE_LOCK, key])
  onHeld()
  await lost
}
