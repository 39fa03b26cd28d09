import type pg from 'pg'
import type { Db } from './connect.js'

/** A statement that each session parses and plans once, and keeps under this name. */
export type Statement = { name: string; text: string }

type Pool = {
  acquireConnection(): Promise<pg.Client>
  releaseConnection(connection: pg.Client): Promise<unknown>
}

/** Runs a statement past knex, which cannot name one. In a transaction it is part of it. */
export async function runPrepared<Row extends object>(
  db: Db,
  { name, text }: Statement,
  values: unknown[],
): Promise<Row[]> {
  const pool = db.client as Pool
  const connection = await pool.acquireConnection()
  try {
    const { rows } = await connection.query<Row>({ name, text, values })
    return rows
  } finally {
    await pool.releaseConnection(connection)
  }
}

/** Has a session plan its statements once, whatever their values are, until the transaction ends. */
export const PLAN_ONCE = 'set local plan_cache_mode = force_generic_plan'

/**
 * As `runPrepared`, of a statement that costs more to plan than to run, and whose plan is the same whatever the
 * values are: Postgres would plan it anew each time as long as it hopes for a little from them. In a transaction of
 * its own, so that the session is as it was, for others too that a pooler lends it to.
 *
 * @see https://www.postgresql.org/docs/current/runtime-config-query.html#GUC-PLAN-CACHE-MODE
 */
export async function runPlannedOnce<Row extends object>(
  db: Db,
  { name, text }: Statement,
  values: unknown[],
): Promise<Row[]> {
  if (db.isTransaction) return runPrepared(db, { name, text }, values)
  const pool = db.client as Pool
  const connection = await pool.acquireConnection()
  try {
    await connection.query(`begin; ${PLAN_ONCE}`)
    const { rows } = await connection.query<Row>({ name, text, values })
    await connection.query('commit')
    return rows
  } catch (error) {
    // Where this fails too, the session is lost, and the transaction with it.
    await connection.query('rollback').catch(() => undefined)
    throw error
  } finally {
    await pool.releaseConnection(connection)
  }
}
