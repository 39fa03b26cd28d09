import type { Knex } from 'knex'
import { gather, perPool } from './gather.js'
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
  const { rows } = await db.raw<{ rows: Row[] }>(
    `with scope as materialized (select set_config('app.account', ?, true) as account)
     select q.* from scope cross join lateral
       (select x.* from (?) x where scope.account = ? offset 0) q`,
    [accountId, query, accountId],
  )
  return rows
}

/**
 * A look-up of one row of an account by one text, with the same sight as `selectScoped`. Look-ups that come
 * together go in one statement, of which each sees its own account only: the setting is made anew before
 * each, in the subquery that the row's own one depends on.
 *
 * @param select - SQL that finds at most one row, by `scope.account` and `call.key`.
 */
export function createLookup<Row extends object>(name: string, select: string) {
  const text = `select call.at as "callAt", found.*
    from unnest($1::text[], $2::text[]) with ordinality as call (account, key, at)
    cross join lateral (select set_config('app.account', call.account, true) as account) as scope
    cross join lateral (${select} offset 0) as found`
  const of = perPool((db) =>
    gather(async (calls: { accountId: string; key: string }[]) => {
      const values = [calls.map(({ accountId }) => accountId), calls.map(({ key }) => key)]
      const rows = await runPrepared<Row & { callAt: bigint }>(db, { name, text }, values)
      const found = new Map(rows.map(({ callAt, ...row }) => [Number(callAt), row as unknown]))
      return calls.map((_, at) => found.get(at + 1) as Row | undefined)
    }),
  )
  return (db: Db, accountId: string, key: string) => of(db)({ accountId, key })
}

/** Gives a whole transaction the sight of one account. */
export async function scopeTransaction(trx: Db, accountId: string): Promise<void> {
  await trx.raw(`select set_config('app.account', ?, true)`, [accountId])
}
