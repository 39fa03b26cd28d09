import type { Db } from '../connection/connect.js'

/** What was signed for an operation, as JSON; undefined when nothing was. Only the signer may ask. */
export async function findSignature(db: Db, operationId: string): Promise<unknown> {
  const row = await db('signature')
    .where({ operation_id: operationId })
    .first<{ payload: unknown } | undefined>('payload')
  return row?.payload
}

/** Keeps what was signed for operations, once for each. */
export async function insertSignatures(
  trx: Db,
  signed: { operationId: string; payload: object }[],
): Promise<void> {
  await trx('signature').insert(
    signed.map(({ operationId, payload }) => {
      return { operation_id: operationId, payload: JSON.stringify(payload) }
    }),
  )
}
