import type { Db } from '../../db/client/connect.js'

/** The signed payload of an operation as JSON, or undefined. Only the signer may read it. */
export async function findSignature(db: Db, operationId: string): Promise<unknown> {
  const row = await db('signature')
    .where({ operation_id: operationId })
    .first<{ payload: unknown } | undefined>('payload')
  return row?.payload
}

/** Stores the signed payloads of operations, once per operation. */
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
