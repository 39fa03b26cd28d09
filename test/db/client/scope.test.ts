import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { transactScoped } from '../../../db/client/scope.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

const BROKEN = 'account_broken'

let database: TestDatabase
/** A pool of one session, on which a scoped transaction begins and then fails. */
let pool: Db

beforeAll(async () => {
  database = await createDatabase()
  await database.db.raw(`create function public.set_config(name text, value text, is_local boolean)
    returns text language plpgsql as $$ begin
      if value = '${BROKEN}' then raise exception 'no sight of it'; end if;
      return pg_catalog.set_config(name, value, is_local);
    end $$`)
  const url = new URL(database.url)
  url.searchParams.set('options', '-c search_path=public,pg_catalog')
  pool = connect(url.href, 1)
})
afterAll(async () => {
  await pool?.destroy()
  await database?.drop()
})

test('transactScoped: error: a transaction that fails at its begin leaves its session without a scope', async () => {
  const sight = async (trx: Db) => {
    const { rows } = await trx.raw<{ rows: object[] }>(
      `select current_setting('app.account') as account, pg_backend_pid() as session`,
    )
    return rows[0]
  }
  const before = await transactScoped(pool, 'account_a', sight)
  let hasWorked = false
  const work = () => Promise.resolve((hasWorked = true))
  await expect(transactScoped(pool, BROKEN, work)).rejects.toThrow('no sight of it')
  expect(hasWorked).toBe(false)
  // On the same session, also in a separate statement.
  expect(await transactScoped(pool, 'account_a', sight)).toEqual(before)
  await expect(transactScoped(pool, BROKEN, work)).rejects.toThrow('no sight of it')
  expect(await sight(pool)).toEqual({ ...before, account: '' })
})
