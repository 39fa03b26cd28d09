import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../dev/stack/embeddedPostgres.js'
import { readPlaces } from '../../dev/settings.js'
import { makeFolders, openHome, saveSet } from '../../dev/state/state.js'

/** Work of a Postgres server since its creation. */
export type DatabaseWork = {
  statements: number
  commits: number
  walBytes: number
  storedBytes: number
}

/**
 * Creates the database servers of a stack before its start, so that they count statements from the beginning.
 *
 * @param env - Environment of the later stack.
 * @see https://www.postgresql.org/docs/current/pgstatstatements.html
 */
export async function prepareStores(env: NodeJS.ProcessEnv): Promise<void> {
  const home = openHome(env)
  makeFolders(home)
  for (const dir of [home.postgres, home.temporalPostgres]) {
    const server = await startEmbeddedPostgres({ dir })
    await query(server.url, `alter system set shared_preload_libraries = 'pg_stat_statements'`)
    await query(server.url, 'create extension pg_stat_statements')
    await server.stop()
  }
  saveSet(home, { id: randomBytes(16).toString('hex'), isComplete: false, places: readPlaces(env) })
}

/** Active sessions report their counts at most once per second, so the last second is incomplete. */
export async function readWork(url: string): Promise<DatabaseWork> {
  const server = new URL(url)
  server.pathname = '/postgres'
  const [row] = await query<Record<keyof DatabaseWork, string>>(
    server.href,
    `select sum(xact_commit) as commits, sum(pg_database_size(datname)) as "storedBytes",
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as "walBytes",
       (select sum(calls) from pg_stat_statements) as statements
     from pg_stat_database where datname is not null`,
  )
  const at = (key: keyof DatabaseWork) => Number(row?.[key] ?? NaN)
  return {
    statements: at('statements'),
    commits: at('commits'),
    walBytes: at('walBytes'),
    storedBytes: at('storedBytes'),
  }
}

async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}
