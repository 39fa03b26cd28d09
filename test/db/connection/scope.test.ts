import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { connect, type Db } from '../../../db/connection/connect.js'
import { transactBetween, transactScoped } from '../../../db/connection/scope.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

const BROKEN = 'account_broken'

let database: TestDatabase
/** A pool of one session, on which a transaction with the sight of one account begins and then fails. */
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

test('transactScoped: error: a transaction that fails as it begins leaves its session outside of it', async () => {
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
  // On the same session, and in a statement of its own as well.
  expect(await transactScoped(pool, 'account_a', sight)).toEqual(before)
  await expect(transactScoped(pool, BROKEN, work)).rejects.toThrow('no sight of it')
  expect(await sight(pool)).toEqual({ ...before, account: '' })
})

describe('transactBetween', () => {
  const insert = (id: number) => (trx: Db) => trx('thing').insert({ id })
  const ids = () => pool('thing').orderBy('id').pluck<number[]>('id')
  const session = async () => {
    const { rows } = await pool.raw<{ rows: object[] }>(
      `select pg_backend_pid() as pid, pg_current_xact_id_if_assigned() as open`,
    )
    return rows[0]
  }

  beforeAll(async () => {
    await database.db.raw('create table public.thing (id int primary key)')
  })

  test('what comes first and last is done in the transaction, with the sight of its account', async () => {
    const add = (id: number) =>
      `insert into thing select ${id} where current_setting('app.account') = 'account_a'`
    await transactBetween(pool, { accountId: 'account_a', first: add(1), last: add(3) }, insert(2))
    await transactBetween(pool, { accountId: 'account_b', first: add(4), last: add(6) }, insert(5))
    expect(await ids()).toEqual([1, 2, 3, 5])
  })

  test('error: what is asked after the end is refused', async () => {
    let kept: Db | undefined
    const work = (trx: Db) => Promise.resolve(void (kept = trx))
    await transactBetween(pool, { accountId: 'account_a', last: 'select 1' }, work)
    await expect(kept?.raw('select 1')).rejects.toThrow('already complete')
  })

  test.each(['first', 'last'])('error: nothing is done when the %s fails', async (edge) => {
    const [known, before] = [await ids(), await session()]
    const failing = transactBetween(
      pool,
      { accountId: 'account_a', [edge]: 'select 1 / 0' },
      insert(7),
    )
    await expect(failing).rejects.toMatchObject({ code: '22012' })
    expect(await ids()).toEqual(known)
    // On the same session, and outside of what has failed.
    expect(await session()).toEqual(before)
  })

  test('error: what comes last is not done when the work fails', async () => {
    const known = await ids()
    const work = () => Promise.reject(new Error('no work'))
    const failing = transactBetween(
      pool,
      { accountId: 'account_a', last: 'insert into thing values (8)' },
      work,
    )
    await expect(failing).rejects.toThrow('no work')
    expect(await ids()).toEqual(known)
  })
})
