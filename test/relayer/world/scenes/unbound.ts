import type { World } from '../fixture.js'

/** Updates an operation without foreign keys, like a partially restored database. */
export const changeUnbound = ({ db }: World, operationId: string, values: object) =>
  db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica')
    await trx('operation').where({ id: operationId }).update(values)
  })
