import { coalesce } from '../client/coalesce.js'
import { perPool } from '../client/perPool.js'
import type { Db } from '../client/connect.js'

/**
 * Checks which authenticated callers are still valid.
 *
 * @param digests - SHA-256 of their keys or read tokens, in base64.
 * @returns In the order of `digests`.
 */
export async function areKnown(db: Db, digests: string[]): Promise<boolean[]> {
  const bytes = digests.map((digest) => Buffer.from(digest, 'base64'))
  const { rows } = await db.raw<{ rows: { digest: Buffer }[] }>(
    'select live_callers(?::bytea[]) as digest',
    [bytes],
  )
  const live = new Set(rows.map(({ digest }) => digest.toString('base64')))
  return digests.map((digest) => live.has(digest))
}

/** Checks which sessions are still valid. */
export async function areOpen(db: Db, sessions: string[]): Promise<boolean[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    'select live_sessions(?::text[]) as id',
    [sessions],
  )
  const open = new Set(rows.map(({ id }) => id))
  return sessions.map((id) => open.has(id))
}

/** One statement at a time, so that a flood of invalid credentials occupies one session of the pool. */
const validityOf = perPool((db) =>
  coalesce(async (digests: Buffer[]) => {
    const { rows } = await db.raw<{ rows: { digest: Buffer }[] }>(
      'select valid_credentials(?::bytea[]) as digest',
      [digests],
    )
    const valid = new Set(rows.map(({ digest }) => digest.toString('base64')))
    return digests.map((digest) => valid.has(digest.toString('base64')))
  }),
)

/** Whether an API key, read token or session is valid, by its SHA-256. Concurrent calls are batched. */
export const isValidCredential = (db: Db, digest: Buffer): Promise<boolean> =>
  validityOf(db)(digest)
