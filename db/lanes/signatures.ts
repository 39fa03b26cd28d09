import type { Db } from '../connection/connect.js'

/** What was signed for an operation, as JSON; undefined when nothing was. Only the signer may ask. */
export async function findSignature(db: Db, operationId: string): Promise<unknown> {
  const row = await db('signature')
    .where({ operation_id: operationId })
    .first<{ payload: unknown } | undefined>('payload')
  return row?.payload
}

/** Keeps what was signed for an operation, once. */
export async function insertSignature(trx: Db, operationId: string, payload: object) {
  await trx('signature').insert({ operation_id: operationId, payload: JSON.stringify(payload) })
}
