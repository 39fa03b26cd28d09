import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Db } from '../db/connection/connect.js'
import type { Stack } from '../test/e2e/stack.js'

const LINES = 70
const WIDTH = 150

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
    await db.raw(`alter system set pg_stat_statements.track = 'all'`)
    await db.raw('select pg_reload_conf()')
  })
}

async function isServing({ facts }: Stack): Promise<boolean> {
  const answer = await fetch(`${facts.hostUrl}/readyz`).catch(() => undefined)
  return answer?.ok === true && (await answer.text()).includes('"degraded":false')
}

export const forgetStatements = (db: Db) => db.raw('select pg_stat_statements_reset()')

type Counted = { role: string; calls: bigint; ms: number; planMs: number; query: string }

/** Prints which statements the time of Postgres went into since they were forgotten, by the role that sent them. */
export async function reportStatements(db: Db, intents: number): Promise<void> {
  const { rows } = await db.raw<{ rows: Counted[] }>(
    `select rolname as role, sum(calls)::bigint as calls, sum(total_plan_time) as "planMs",
       sum(total_exec_time + total_plan_time) as ms, regexp_replace(query, '\\s+', ' ', 'g') as query
     from pg_stat_statements join pg_roles on pg_roles.oid = userid
     where toplevel group by rolname, 5 order by ms desc`,
  )
  const each = (rows: Counted[]) => {
    const of = (read: (row: Counted) => number) =>
      rows.reduce((sum, row) => sum + read(row), 0) / intents
    const calls = of(({ calls }) => Number(calls)).toFixed(1)
    const [ms, planMs] = [of(({ ms }) => ms), of(({ planMs }) => planMs)]
    return `${calls.padStart(6)} x ${ms.toFixed(2).padStart(6)} ms, planning ${planMs.toFixed(2)}`
  }
  console.log(`\nPostgres, per intent: ${each(rows)}`)
  for (const role of new Set(rows.map(({ role }) => role))) {
    console.log(`  ${role.padEnd(16)} ${each(rows.filter((row) => row.role === role))}`)
  }
  for (const row of rows.slice(0, LINES)) {
    console.log(`  ${each([row])}  ${row.role}: ${row.query.slice(0, WIDTH)}`)
  }
}

async function onDatabase(url: string, work: (db: Db) => Promise<void>): Promise<void> {
  const db = connect(url, 1)
  await work(db).finally(() => db.destroy())
}
