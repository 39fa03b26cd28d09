import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Db } from '../db/connection/connect.js'
import type { Stack } from '../test/e2e/stack.js'

const LINES = 25
const WIDTH = 110

/**
 * Has the stack's own Postgres count its statements, which it does only from its start on: it is stopped, and the stack
 * brings it up again.
 *
 * @see https://www.postgresql.org/docs/current/pgstatstatements.html
 */
export async function countStatements(stack: Stack): Promise<void> {
  const { databaseUrl, pids } = stack.facts
  await onDatabase(databaseUrl, async (db) => {
    await db.raw(`alter system set shared_preload_libraries = 'pg_stat_statements'`)
  })
  process.kill(pids.postgres, 'SIGINT')
  while (stack.readFacts().pids.postgres === pids.postgres) await sleep(100)
  while (!(await isServing(stack))) await sleep(100)
  await onDatabase(databaseUrl, async (db) => {
    await db.raw('create extension if not exists pg_stat_statements')
    await db.raw(`alter system set pg_stat_statements.track_planning = on`)
    await db.raw('select pg_reload_conf()')
  })
}

async function isServing({ facts }: Stack): Promise<boolean> {
  const answer = await fetch(`${facts.hostUrl}/readyz`).catch(() => undefined)
  return answer?.ok === true && (await answer.text()).includes('"degraded":false')
}

export const forgetStatements = (db: Db) => db.raw('select pg_stat_statements_reset()')

/** Prints which statements the time of Postgres went into since they were forgotten. */
export async function reportStatements(db: Db, intents: number): Promise<void> {
  const { rows } = await db.raw<{ rows: { calls: bigint; ms: number; query: string }[] }>(
    `select sum(calls)::bigint as calls, sum(total_exec_time + total_plan_time) as ms,
       regexp_replace(query, '\\s+', ' ', 'g') as query
     from pg_stat_statements group by 3 order by 2 desc`,
  )
  const total = rows.reduce((sum, { ms }) => sum + ms, 0)
  const calls = rows.reduce((sum, row) => sum + Number(row.calls), 0)
  console.log(
    `\nPostgres: ${(calls / intents).toFixed(0)} statements and ${(total / intents).toFixed(1)} ms in them per intent`,
  )
  for (const { calls, ms, query } of rows.slice(0, LINES)) {
    const each = (ms / intents).toFixed(2).padStart(7)
    const often = (Number(calls) / intents).toFixed(1).padStart(6)
    console.log(`  ${each} ms ${often} x  ${query.slice(0, WIDTH)}`)
  }
}

async function onDatabase(url: string, work: (db: Db) => Promise<void>): Promise<void> {
  const db = connect(url, 1)
  await work(db).finally(() => db.destroy())
}
