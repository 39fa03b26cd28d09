import type { Knex } from 'knex'
import { createLimiter } from '../../limiter.js'
import { ServiceError } from '../../domain/errors.js'
import { perPool } from './perPool.js'
import { runPrepared } from './prepared.js'
import type { Db } from './connect.js'

/**
 * Runs one query with the sight of one account, in one statement: row policies let it see the rows of this
 * account only, even if its own conditions forget to say so. Without a scope the API's role sees nothing.
 *
 * The query stands in a lateral subquery that needs the setting's own value, and `offset 0` keeps it there,
 * so that no plan can read a row before the setting is made.
 */
export async function selectScoped<Row>(
  db: Db,
  accountId: string,
  query: Knex.QueryBuilder,
): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(scoped('?', '?'), [accountId, query, accountId])
  return rows
}

/** SQL of a query that one account's sight is made for. @param account - Parameter with its id. */
const scoped = (query: string, account: string) => `
  with scope as materialized (select set_config('app.account', ${account}, true) as account)
  select q.* from scope cross join lateral
    (select x.* from (${query}) x where scope.account = ${account} offset 0) q`

/** Finds one row of an account by one text, with the same sight as `selectScoped`. `select`, `notFound`: as it was made. */
export type Lookup<Row> = {
  name: string
  select: string
  notFound(key: string): ServiceError
  /** SQL that joins to `call`, by its account and key, the row and `found`: all null where there is none. */
  join: string
  find(db: Db, accountId: string, key: string): Promise<Row | undefined>
  /** @throws {ServiceError} Not found: the same for unknown and foreign rows. */
  get(db: Db, accountId: string, key: string): Promise<Row>
  /** What is found otherwise, such as by an admission. */
  orThrow(row: Row | undefined, key: string): Row
}

/**
 * Makes a look-up.
 *
 * @param select - SQL that finds at most one row, by `scope.account` and `call.key`.
 * @param notFound - Knows the key only: the error is the same for unknown and foreign rows.
 */
export function createLookup<Row extends object>(
  name: string,
  select: string,
  notFound: (key: string) => ServiceError,
): Lookup<Row> {
  // Of several calls each sees its own account only: the setting is made before each, in the subquery that the row's
  // own one depends on.
  const join = `
    cross join lateral (select set_config('app.account', call.account, true) as account) as scope
    left join lateral (select true as found, x.* from (${select}) x offset 0) as row on true`
  const text = `select row.* from (select $1::text as account, $2::text as key offset 0) as call ${join}`
  const find = async (db: Db, accountId: string, key: string) => {
    const [row] = await runPrepared<Joined>(db, { name, text }, [accountId, key])
    return row && rowOf<Row>(row)
  }
  const orThrow = (row: Row | undefined, key: string) => {
    if (row) return row
    throw notFound(key)
  }
  const get = async (db: Db, accountId: string, key: string) =>
    orThrow(await find(db, accountId, key), key)
  return { name, select, notFound, join, find, get, orThrow }
}

/** The columns that a look-up joins. */
export type Joined = { found?: true | null }

/** The row that a look-up joined. */
function rowOf<Row>({ found, ...row }: Joined): Row | undefined {
  return found ? (row as Row) : undefined
}

/**
 * Sessions of a pool that the transactions of one account take at most. A wallet that one of them holds, or a flood of
 * writes, would else take all sessions from other accounts. They wait less long than an answer may take.
 */
const ACCOUNT_SESSIONS = { atOnce: 8, patienceMs: 10_000 }

const limiterOf = perPool(() =>
  createLimiter(
    ACCOUNT_SESSIONS,
    () => new ServiceError('UNAVAILABLE', 'Too much is asked for at once. Try again.'),
  ),
)

/** Does work of an account that takes a session of a pool, when there is one for it. */
export const takeTurn = <T>(db: Db, accountId: string, work: () => Promise<T>): Promise<T> =>
  limiterOf(db)(accountId, work)

/**
 * Does work in a transaction that sees the rows of one account only.
 *
 * @param db - A pool.
 * @throws {ServiceError} UNAVAILABLE when too much of the account's work comes before it.
 */
export const transactScoped = <T>(
  db: Db,
  accountId: string,
  work: (trx: Db) => Promise<T>,
): Promise<T> =>
  takeTurn(db, accountId, () =>
    db.transaction(async (trx) => {
      await scopeTransaction(trx, accountId)
      return work(trx)
    }),
  )

/** Gives a whole transaction the sight of one account. */
export async function scopeTransaction(trx: Db, accountId: string): Promise<void> {
  await trx.raw(`select set_config('app.account', ?, true)`, [accountId])
}

/** Gives a whole transaction the sight of one member's own rows, and has his acts noted as his. */
export async function scopeMember(trx: Db, userId: string): Promise<void> {
  await trx.raw(`select set_config('app.member', ?, true)`, [userId])
}
