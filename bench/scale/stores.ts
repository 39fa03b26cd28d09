import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../dev/stack/embeddedPostgres.js'
import { readPlaces } from '../../dev/settings.js'
import { makeFolders, openHome, saveSet } from '../../dev/state/state.js'

/** What a Postgres server has done since it was made. */
export type Work = { statements: number; commits: number; walBytes: number; storedBytes: number }

/**
 * Makes the database servers of a stack before it is started, so that they count statements from their start on.
 *
 * @param env - What the stack will be started with.
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

/** Sessions that work tell their counts once a second at most: of the last second some are missing. */
export async function readWork(url: string): Promise<Work> {
  const server = new URL(url)
  server.pathname = '/postgres'
  const [row] = await query<Record<keyof Work, string>>(
    server.href,
    `select sum(xact_commit) as commits, sum(pg_database_size(datname)) as "storedBytes",
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as "walBytes",
       (select sum(calls) from pg_stat_statements) as statements
     from pg_stat_database where datname is not null`,
  )
  const at = (key: keyof Work) => Number(row?.[key] ?? NaN)
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
