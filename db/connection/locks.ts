import type { Db } from './connect.js'

/**
 * Waits for a name, and holds it until the transaction ends. Names begin with what they are about, such as `room/`.
 * They come before rows wherever both are locked.
 */
export async function lockName(trx: Db, name: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name])
}

/** As `lockName`, together with others that share the name. */
export async function shareName(trx: Db, name: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [name])
}
