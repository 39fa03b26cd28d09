import pg from 'pg'

/** What a Postgres server has done since it was made. */
export type Work = { commits: number; walBytes: number; storedBytes: number }

/** What Temporal keeps of one workflow, on average. */
export type History = { transitions: number; events: number; bytes: number }

/** Sessions that work tell their counts once a second at most: of the last second some are missing. */
export async function readWork(url: string): Promise<Work> {
  const [row] = await query<Record<keyof Work, string>>(
    url,
    `select sum(xact_commit) as commits, sum(pg_database_size(datname)) as "storedBytes",
       pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as "walBytes"
     from pg_stat_database where datname is not null`,
  )
  const at = (key: keyof Work) => Number(row?.[key] ?? NaN)
  return { commits: at('commits'), walBytes: at('walBytes'), storedBytes: at('storedBytes') }
}

/** The mean of all intents' workflows that have ended, as a Temporal on Postgres lists them. */
export async function readHistory(url: string): Promise<History> {
  const visibility = new URL(url)
  visibility.pathname = '/temporal_visibility'
  const [row] = await query<Record<keyof History, string>>(
    visibility.href,
    `select avg(state_transition_count) as transitions, avg(history_length) as events,
       avg(history_size_bytes) as bytes
     from executions_visibility
     where workflow_type_name = 'executeIntent' and close_time is not null`,
  )
  const at = (key: keyof History) => Number(row?.[key] ?? NaN)
  return { transitions: at('transitions'), events: at('events'), bytes: at('bytes') }
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
