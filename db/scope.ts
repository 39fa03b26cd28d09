import type { Knex } from 'knex'
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

/** Gives a whole transaction the sight of one account. */
export async function scopeTransaction(trx: Db, accountId: string): Promise<void> {
  await trx.raw(`select set_config('app.account', ?, true)`, [accountId])
}
