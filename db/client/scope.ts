import type { Knex } from 'knex'
import { createLimiter } from '../../runtime/limiter.js'
import { ServiceError } from '../../domain/errors.js'
import { perPool } from './perPool.js'
import { runPrepared } from './prepared.js'
import type { Db } from './connect.js'

/**
 * Runs one query in the scope of one account, in one statement. Row policies limit it to rows of this account, even if
 * its own conditions do not. Without a scope the API's role sees no rows.
 *
 * The query is in a lateral subquery that depends on the setting's value. `offset 0` keeps it there, so that no plan
 * reads a row before the setting is made.
 */
export async function selectScoped<Row>(
  db: Db,
  accountId: string,
  query: Knex.QueryBuilder,
): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(scoped('?', '?'), [accountId, query, accountId])
  return rows
}

/** SQL of a query in the scope of one account. @param account - Parameter with its id. */
const scoped = (query: string, account: string) => `
  with scope as materialized (select set_config('app.account', ${account}, true) as account)
  select q.* from scope cross join lateral
    (select x.* from (${query}) x where scope.account = ${account} offset 0) q`

/** Finds one row of an account by one key, in the scope of `selectScoped`. */
export type Lookup<Row> = {
  name: string
  select: string
  notFound(key: string): ServiceError
  /** SQL that joins the row and `found` to `call`, by its account and key. All columns are null without a match. */
  join: string
  find(db: Db, accountId: string, key: string): Promise<Row | undefined>
  /** @throws {ServiceError} Not found. The error is the same for unknown and foreign rows. */
  get(db: Db, accountId: string, key: string): Promise<Row>
  /** Returns the row, or throws as `get` does. */
  orThrow(row: Row | undefined, key: string): Row
}

/**
 * Creates a lookup.
 *
 * @param select - SQL that finds at most one row, by `scope.account` and `call.key`.
 * @param notFound - Receives the key only: the error is the same for unknown and foreign rows.
 */
export function createLookup<Row extends object>(
  name: string,
  select: string,
  notFound: (key: string) => ServiceError,
): Lookup<Row> {
  // With several calls, each sees its own account only: the setting is made for each, in the subquery that the row's
  // subquery depends on.
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

/** The columns that a lookup joins. */
export type Joined = { found?: true | null }

/** The row that a lookup joined. */
function rowOf<Row>({ found, ...row }: Joined): Row | undefined {
  return found ? (row as Row) : undefined
}

/**
 * The most sessions of a pool that the transactions of one account use. Without the limit, a locked wallet or a flood of
 * writes of one account would block all others. The waiting time is below the time limit of a request.
 */
const ACCOUNT_SESSIONS = { atOnce: 8, patienceMs: 10_000 }

const limiterOf = perPool(() =>
  createLimiter(
    ACCOUNT_SESSIONS,
    () =>
      new ServiceError('UNAVAILABLE', 'Too many concurrent requests of this account. Try again.'),
  ),
)

/** Runs work of an account that needs a session of a pool, within the account's limit. */
export const takeTurn = <T>(db: Db, accountId: string, work: () => Promise<T>): Promise<T> =>
  limiterOf(db)(accountId, work)

/**
 * Runs work in a transaction that sees the rows of one account only.
 *
 * @param db - A pool.
 * @throws {ServiceError} UNAVAILABLE when too much work of the account is waiting.
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

/** Sets the account scope of a transaction. */
export async function scopeTransaction(trx: Db, accountId: string): Promise<void> {
  await trx.raw(`select set_config('app.account', ?, true)`, [accountId])
}

/**
 * Sets the session of a transaction: it sees the rows of the session's member, and the audit log names them.
 *
 * @param tokenHash - SHA-256 of the session's token.
 */
export async function scopeSession(trx: Db, tokenHash: Buffer): Promise<void> {
  await trx.raw(`select set_config('app.session', ?, true)`, [tokenHash.toString('hex')])
}
