import { randomInt } from 'node:crypto'
import { keepSession } from './session.js'

/** Namespace of the advisory locks by which processes show that they live. */
export const PRESENCE_LOCK = 7_720
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
  const key = Number(name.split('#').at(-1))
  // While the server is away, what it does not show is tried by others, and refused to the slower one.
  const ended = keepSession(url, stopping, async (session) => {
    // Shared: the server may not have noticed yet that an earlier session of ours is lost.
    await session.query('select pg_advisory_lock_shared($1, $2)', [PRESENCE_LOCK, key])
    tell()
  })
  return { held, ended }
}
