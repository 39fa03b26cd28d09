import type { Db } from '../../../db/connection/connect.js'

const parts = ['signature', 'signed_amount', 'burn']

/** Loses operations with all that was stored of them, as an older backup does: it asks neither keys nor triggers. */
export async function forgetOperations(db: Db, ids: string[]): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica')
    for (const table of parts) await trx(table).whereIn('operation_id', ids).delete()
    await trx('operation').whereIn('id', ids).delete()
    // Whoever called within a transaction of his goes on in it.
    await trx.raw('set local session_replication_role = origin')
  })
}
