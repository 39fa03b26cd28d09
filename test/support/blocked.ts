import type { Db } from '../../db/client/connect.js'

const LOOK_MS = 5

/** True while a session of this database waits for a lock of another session. */
export async function isBlocked(db: Db): Promise<boolean> {
  const { rows } = await db.raw<{ rows: object[] }>(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.length > 0
}

/** Resolves when a session of this database waits for a lock of another session. */
export async function waitUntilBlocked(db: Db): Promise<void> {
  while (!(await isBlocked(db))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}
