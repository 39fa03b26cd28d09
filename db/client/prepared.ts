import type { Db } from './connect.js'

/** A raw SQL statement with `$1` for its first value. Each session parses it once and caches it by name. */
export type Statement = { name: string; text: string }

/**
 * Runs a prepared statement. In a transaction it runs as part of it.
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

/** Makes the session use generic plans until the transaction ends. */
export const PLAN_ONCE = 'set local plan_cache_mode = force_generic_plan'

/**
 * As `runPrepared`, for a statement that costs more to plan than to run and has the same plan for all values. Postgres
 * would replan it whenever it expects a slightly cheaper plan.
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
