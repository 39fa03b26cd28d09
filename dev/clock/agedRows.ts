import type { Db } from '../../db/client/connect.js'
import { UserError } from '../terminal.js'

/** Columns that describe the running service and not its past. Their parts renew them within seconds. */
const present = ['chain.indexed_at', 'bridge_fee.read_at']

/** JSON of the service with ISO 8601 times inside. JSON of the caller, such as metadata, stays as it was sent. */
const jsonColumns = [
  ['intent', 'delay', 'json'],
  ['intent', 'error', 'json'],
  ['intent_event', 'data', 'json'],
  ['webhook_delivery', 'attempts', 'jsonb'],
] as const

/**
 * Rows are first moved out of the range of all others: a unique index is checked row by row, and a row may move to the
 * time of the next one.
 */
const AWAY_DAYS = 400_000

/** Below Postgres' `deadlock_timeout` of 1 s, so that this transaction gives way and no service does. */
const LOCK_TIMEOUT_MS = 500
const TRIES = 40

/** @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
const [LOCK_NOT_AVAILABLE, INSUFFICIENT_PRIVILEGE] = ['55P03', '42501']

type TimeTable = { table: string; times: string[]; days: string[] }

/**
 * Moves every stored time and day of the database into the past, in one transaction. Triggers do not run: nothing
 * happens, the past only becomes older.
 *
 * @param db - Connection of the owner, a superuser.
 * @param record - Writes in the same transaction.
 * @throws {UserError} when the role may not disable triggers.
 */
export async function ageRows(
  db: Db,
  days: number,
  record: (trx: Db) => Promise<void>,
): Promise<void> {
  await repeatWhileLocked(() =>
    db.transaction(async (trx) => {
      await ageAll(trx, days)
      await record(trx)
    }),
  )
}

async function repeatWhileLocked(run: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run()
    } catch (error) {
      const { code } = error as { code?: string }
      if (code === INSUFFICIENT_PRIVILEGE) {
        const advice = 'Give DATABASE_URL a superuser, or unset it.'
        throw new UserError(`The clock may not disable triggers. ${advice}`, { cause: error })
      }
      if (code !== LOCK_NOT_AVAILABLE || tries === TRIES) throw error
    }
  }
}

async function ageAll(trx: Db, days: number): Promise<void> {
  await trx.raw('set local session_replication_role = replica')
  await trx.raw(`set local time zone 'UTC'`)
  await trx.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
  const tables = await findTimes(trx)
  await trx.raw(`lock table ${tables.map(({ table }) => table).join(', ')} in exclusive mode`)
  for (const { table, times, days: dates } of tables) {
    for (const moveDays of [-AWAY_DAYS, AWAY_DAYS - days]) {
      const moves = [
        ...times.map((column) => `${column} = ${column} + interval '${moveDays} days'`),
        ...dates.map((column) => `${column} = ${column} + (${moveDays})`),
      ]
      await trx.raw(`update ${table} set ${moves.join(', ')}`)
    }
  }
  for (const [table, column, type] of jsonColumns) {
    await trx.raw(ageJson(table, column, type), { days })
  }
  await ageMonths(trx, days)
}

/** The columns of all tables that hold times or days, with quoted names. */
async function findTimes(trx: Db): Promise<TimeTable[]> {
  const sql = `
    select quote_ident(table_name) as table,
      array_agg(quote_ident(column_name)) filter (where data_type <> 'date') as times,
      array_agg(quote_ident(column_name)) filter (where data_type = 'date') as days
    from information_schema.columns c join pg_class k on k.oid = quote_ident(c.table_name)::regclass
    where table_schema = 'public' and data_type in ('timestamp with time zone', 'date')
      and k.relkind in ('r', 'p') and not k.relispartition
      and table_name || '.' || column_name <> all (:present::text[])
    group by table_name order by table_name`
  type Row = { table: string; times: string[] | null; days: string[] | null }
  const { rows } = await trx.raw<{ rows: Row[] }>(sql, { present })
  return rows.map(({ table, times, days }) => ({ table, times: times ?? [], days: days ?? [] }))
}

/** Rewrites the ISO 8601 times of a JSON column and keeps the text between them. */
const ageJson = (table: string, column: string, type: 'json' | 'jsonb') => `
update ${table} t set ${column} = (
  select string_agg(part.text || coalesce(to_char(
    (hit.found[1])::timestamptz - :days * interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), ''), '' order by n)
  from regexp_split_to_table(t.${column}::text, iso.pattern) with ordinality as part (text, n)
  left join regexp_matches(t.${column}::text, iso.pattern, 'g') with ordinality as hit (found, n) using (n))::${type}
from (values ('([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}([.][0-9]+|)Z)')) as iso (pattern)
where t.${column}::text ~ iso.pattern`

/** Months (YYYYMM) of monthly credits: the account's current one, and those of its charges. */
async function ageMonths(trx: Db, days: number): Promise<void> {
  const month = (time: string) => `to_char(${time}, 'YYYYMM')::int`
  await trx.raw(
    `update account set period = least(period, ${month(`now() - ${days} * interval '1 day'`)})
     where period > 0`,
  )
  await trx.raw(
    `update ledger set period = ${month('created_at')} where period is not null and not summed`,
  )
}
