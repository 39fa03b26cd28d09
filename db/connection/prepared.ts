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
