import type { Db } from './connect.js'

/** A statement of our own, with `$1` for its first value. A session parses it once, and keeps it under its name. */
export type Statement = { name: string; text: string }

/**
 * Runs a statement under its name, in a transaction as part of it.
 *
 * @see https://knexjs.org/guide/query-builder.html#options
 * @see https://node-postgres.com/features/queries#prepared-statements
 */
export async function runPrepared<Row extends object>(
  db: Db,
  { name, text }: Statement,
  values: unknown[],
): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(text).options({ name, values })
  return rows
}

/** Has a session plan its statements once, whatever their values are, until the transaction ends. */
export const PLAN_ONCE = 'set local plan_cache_mode = force_generic_plan'

/**
 * As `runPrepared`, of a statement that costs more to plan than to run, and whose plan is the same whatever the
 * values are. Postgres would plan it again each time that it expects a little less work from that.
 *
 * @see https://www.postgresql.org/docs/current/runtime-config-query.html#GUC-PLAN-CACHE-MODE
 */
export const runPlannedOnce = <Row extends object>(
  db: Db,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> =>
  db.transaction(async (trx) => {
    await trx.raw(PLAN_ONCE)
    return runPrepared<Row>(trx, statement, values)
  })
