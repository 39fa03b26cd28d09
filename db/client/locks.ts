import type { Db } from './connect.js'

/**
 * Locks a name until the transaction ends. Names begin with their subject, such as `capacity/`. Names are locked before rows
 * where a transaction locks both.
 */
export async function lockName(trx: Db, name: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name])
}
