import type { World } from './fixture.js'

/** Changes an operation as in a database whose keys do not hold, such as one that was restored in parts. */
export const changeUnbound = ({ db }: World, operationId: string, values: object) =>
  db.transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica')
    await trx('operation').where({ id: operationId }).update(values)
  })
