import type { Db } from '../../../../db/client/connect.js'

const parts = ['signature', 'signed_amount', 'burn']

/** Deletes operations and all their data, like an older backup; foreign keys and triggers are off. */
export async function forgetOperations(db: Db, ids: string[]): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica')
    for (const table of parts) await trx(table).whereIn('operation_id', ids).delete()
    await trx('operation').whereIn('id', ids).delete()
    // A caller inside a transaction continues in it.
    await trx.raw('set local session_replication_role = origin')
  })
}
