import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '../../../db/accounts/accounts.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { admit } from '../../../db/usage/metering.js'
import { createLookup, selectScoped, transactScoped } from '../../../db/client/scope.js'
import { ServiceError } from '../../../domain/errors.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertTestIntent, insertTestOperation, insertTestWallet } from '../rows.js'

let database: TestDatabase
/** With the permissions of the API, over one connection, so that state left by one query reaches the next. */
let api: Db
let mine: string
let theirs: string

/** Every table with rows of an account that the API may read. */
const tables = [
  ...['account', 'api_key', 'wallet', 'intent', 'funding', 'reservation', 'operation'],
  ...['ledger', 'idempotency_key'],
]

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 1)
  mine = await fillAccount()
  theirs = await fillAccount()
})
afterAll(async () => {
  await api.destroy()
  await database.drop()
})

/** An account with a row in each table. */
async function fillAccount(): Promise<string> {
  const { db } = database
  const wallet = await insertTestWallet(db)
  const { id: wallet_id, accountId: account_id } = wallet
  const intent_id = await insertTestIntent(db, wallet, 'planning')
  const operation_id = await insertTestOperation(db, wallet, intent_id)
  await db('burn').insert({ operation_id, source_domain: 3, destination_block: 1 })
  const common = { wallet_id, chain_id: 421_614, units: 1 }
  await db('funding').insert({ id: newId('fund_'), account_id, ...common })
  await db('reservation').insert({ intent_id, sequence: 1, token: '0x', ...common })
  await db('idempotency_key').insert({
    ...{ account_id, endpoint: '/', key: 'one', fingerprint: Buffer.alloc(32), status: 201 },
    body: '{}',
  })
  const key = await createApiKey(db, account_id, { name: 'test' })
  await admit(db, { key, requestId: newId('req_'), cost: 1, route: 'test', scope: 'read' })
  return account_id
}

type TenantRow = Record<string, unknown>
const readAll = async (db: Db, table: string): Promise<TenantRow[]> => {
  const rows: TenantRow[] = await db(table).select('*')
  return rows
}

/** The rows of one account, read as the owner of the database. */
async function ownRows(table: string, accountId: string): Promise<TenantRow[]> {
  const { db } = database
  if (table === 'account') return db(table).where({ id: accountId })
  if (table !== 'reservation') return db(table).where({ account_id: accountId })
  return db(table).whereIn('wallet_id', db('wallet').where({ account_id: accountId }).select('id'))
}

const inScope = <Result>(accountId: string, work: (trx: Db) => Promise<Result>) =>
  transactScoped(api, accountId, work)

describe('a query without a condition', () => {
  test.each(tables)('sees no row of %s without a scope', async (table) => {
    expect(await database.db(table).select('*')).not.toHaveLength(0)
    expect(await readAll(api, table)).toEqual([])
  })

  test.each(tables)('sees only its own rows of %s with selectScoped', async (table) => {
    for (const account of [mine, theirs]) {
      const own = await ownRows(table, account)
      expect(own).not.toHaveLength(0)
      expect(await selectScoped(api, account, api(table).select('*'))).toEqual(own)
    }
    expect(await selectScoped(api, 'acct_none', api(table).select('*'))).toEqual([])
  })

  test.each(tables)('sees only its own rows of %s with transactScoped', async (table) => {
    const rows = await inScope(mine, (trx) => readAll(trx, table))
    expect(rows).toEqual(await ownRows(table, mine))
  })

  test('sees only the times of its own burns, and no other columns', async () => {
    const times = () => api('burn').select('operation_id', 'burned_at', 'attested_at')
    expect(await times()).toEqual([])
    const [own] = await ownRows('operation', mine)
    const visible = { operation_id: own?.id, burned_at: null, attested_at: null }
    expect(await selectScoped(api, mine, times())).toEqual([visible])
    const all = selectScoped(api, mine, api('burn').select('message'))
    await expect(all).rejects.toMatchObject({ code: '42501' })
  })

  test.each(['', ' ', '%', mine])(
    'sees nothing with the scope %j and a trailing blank',
    async (id) => {
      expect(await selectScoped(api, `${id} `, api('wallet').select('*'))).toEqual([])
    },
  )

  test('a join, a subquery and an aggregate see only own rows', async () => {
    const joined = api('intent as i')
      .join('wallet as w', 'w.id', 'i.wallet_id')
      .select('w.account_id')
    expect(await selectScoped(api, mine, joined)).toEqual([{ account_id: mine }])
    const inside = api('wallet')
      .whereIn('id', api('intent').select('wallet_id'))
      .select('account_id')
    expect(await selectScoped(api, mine, inside)).toEqual([{ account_id: mine }])
    expect(await selectScoped(api, mine, api('wallet').count('id'))).toEqual([{ count: 1n }])
  })
})

describe('lookups that are batched in one statement', () => {
  type Found = { id: string; account_id: string }
  /** They name no account, so only the row policies separate them. */
  const sql = 'select id, account_id from wallet where id = call.key'
  const absent = new ServiceError('NOT_FOUND', 'There is none.')
  const lookup = createLookup<Found>('any', sql, () => absent)
  const find = (db: Db, account: string, key: string) =>
    lookup.get(db, account, key).catch((error: unknown) => {
      if (error === absent) return undefined
      throw error
    })
  const walletOf = async (account: string) => String((await ownRows('wallet', account))[0]?.id)

  test('each see their own row, in any order of accounts', async () => {
    const [ours, foreign] = [await walletOf(mine), await walletOf(theirs)]
    const accounts = Array.from(
      { length: 40 },
      (_, at) => [mine, theirs, 'acct_none'][at % 3] ?? '',
    )
    const asked = accounts.flatMap((account) => [ours, foreign].map((key) => ({ account, key })))
    const found = await Promise.all(asked.map(({ account, key }) => find(api, account, key)))
    const expected = asked.map(({ account, key }) => {
      const own = account === mine ? ours : foreign
      return account !== 'acct_none' && key === own ? { id: own, account_id: account } : undefined
    })
    expect(found).toEqual(expected)
    expect(await readAll(api, 'wallet')).toEqual([])
  })

  test('are joined to the admissions of their callers', async () => {
    const { db } = database
    const keyOf = (account: string) => createApiKey(db, account, { name: 'test' })
    const keys = [await keyOf(mine), await keyOf(theirs), await keyOf(mine)]
    const [ours, foreign] = [await walletOf(mine), await walletOf(theirs)]
    const asked = Array.from({ length: 40 }, (_, at) => ({
      key: keys[at % 3] ?? '',
      cost: at % 5 === 0 ? 1_000_000 : 1,
      sought: at % 2 === 0 ? ours : foreign,
    }))
    const answers = await Promise.all(
      asked.map(({ key, cost, sought }) => {
        const request = {
          key,
          requestId: newId('req_'),
          cost,
          route: 'test',
          scope: 'read' as const,
        }
        return admit(api, request, { lookup, key: sought })
      }),
    )
    const expected = asked.map(({ cost, sought }, at) => {
      const accountId = at % 3 === 1 ? theirs : mine
      const own = accountId === mine ? ours : foreign
      if (cost > 1) return { accountId, verdict: 'outOfCredits', found: undefined }
      const found = sought === own ? { id: own, account_id: accountId } : undefined
      return { accountId, verdict: 'admitted', found }
    })
    expect(answers).toMatchObject(expected)
    expect(await readAll(api, 'wallet')).toEqual([])
  })

  test('one that the database rejects fails alone', async () => {
    const ours = await walletOf(mine)
    const asked = ['none', 'nul \u0000', ours, ours].map((key) => find(api, mine, key))
    const [none, refused, ...found] = await Promise.allSettled(asked)
    expect(none).toEqual({ status: 'fulfilled', value: undefined })
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: '22021' } })
    const own = { id: ours, account_id: mine }
    expect(found).toEqual(Array(2).fill({ status: 'fulfilled', value: own }))
  })

  test("are part of the caller's transaction", async () => {
    const id = newId('svc_wallet_')
    const values = { user_id: newId('u'), address: newId('0x'), metadata: '{}' }
    const failed = inScope(mine, async (trx) => {
      await trx('wallet').insert({ id, account_id: mine, ...values })
      expect(await find(trx, mine, id)).toEqual({ id, account_id: mine })
      expect(await find(trx, theirs, id)).toBeUndefined()
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect(await find(api, mine, id)).toBeUndefined()
  })
})

describe('sealed keys of wallets', () => {
  test('cannot be read, with or without a scope', async () => {
    const refused = { code: '42501' }
    await expect(api('wallet_secret').select('*')).rejects.toMatchObject(refused)
    const scoped = inScope(mine, (trx) => readAll(trx, 'wallet_secret'))
    await expect(scoped).rejects.toMatchObject(refused)
  })
})

describe('the scope ends', () => {
  test('at the end of its statement', async () => {
    await selectScoped(api, mine, api('wallet').select('*'))
    expect(await readAll(api, 'wallet')).toEqual([])
  })

  test('at the end of its transaction, committed or rolled back', async () => {
    await inScope(mine, (trx) => readAll(trx, 'wallet'))
    expect(await readAll(api, 'wallet')).toEqual([])
    const failed = inScope(mine, () => Promise.reject(new Error('rolled back')))
    await expect(failed).rejects.toThrow('rolled back')
    expect(await readAll(api, 'wallet')).toEqual([])
  })

  test('after a statement that fails', async () => {
    const broken = selectScoped(api, mine, api('wallet').select(api.raw('1 / 0')))
    await expect(broken).rejects.toMatchObject({ code: '22012' })
    expect(await readAll(api, 'wallet')).toEqual([])
  })
})

describe('writes for another account', () => {
  const row = () => ({ id: newId('x_'), account_id: theirs })
  const walletOf = async (account: string) => String((await ownRows('wallet', account))[0]?.id)
  const refused = { code: '42501' }

  test.each<[string, () => Promise<object>]>([
    [
      'wallet',
      () => Promise.resolve({ ...row(), user_id: 'x', address: newId('0x'), metadata: '{}' }),
    ],
    [
      'intent',
      async () => ({
        ...{ ...row(), wallet_id: await walletOf(theirs), action: 'lend', asset: 'USDC' },
        ...{ units: 1, status: 'pending', request_id: 'x' },
      }),
    ],
    [
      'funding',
      async () => ({ ...row(), wallet_id: await walletOf(theirs), chain_id: 1, units: 1 }),
    ],
    [
      'idempotency_key',
      () =>
        Promise.resolve({
          ...{ account_id: theirs, endpoint: '/', key: 'x', status: 0, body: '' },
          fingerprint: Buffer.alloc(32),
        }),
    ],
    [
      'reservation',
      async () => ({
        ...{ intent_id: String((await ownRows('intent', theirs))[0]?.id), sequence: 2 },
        ...{ wallet_id: await walletOf(theirs), chain_id: 1, token: '0x', units: 1 },
      }),
    ],
    [
      'wallet_secret',
      async () => ({ wallet_id: await walletOf(theirs), kek_id: 'x', sealed: Buffer.alloc(1) }),
    ],
  ])('error: a new row of %s', async (table, make) => {
    const values = await make()
    const insert = inScope(mine, (trx) => trx(table).insert(values))
    await expect(insert).rejects.toMatchObject(refused)
    await expect(api(table).insert(values)).rejects.toMatchObject(refused)
  })

  test('an update changes no foreign row', async () => {
    const before = await ownRows('idempotency_key', theirs)
    const changed = await inScope(mine, (trx) =>
      trx('idempotency_key').where({ account_id: theirs }).update({ body: 'changed' }),
    )
    expect(changed).toBe(0)
    expect(await api('idempotency_key').update({ body: 'changed' })).toBe(0)
    expect(await ownRows('idempotency_key', theirs)).toEqual(before)
  })

  test('error: a row cannot be moved to another account, and the ledger cannot be written directly', async () => {
    const give = inScope(mine, (trx) => trx('idempotency_key').update({ account_id: theirs }))
    await expect(give).rejects.toMatchObject(refused)
    const index = inScope(mine, (trx) =>
      trx('ledger').insert({ account_id: mine, request_id: 'x', reason: 'x', delta: 1 }),
    )
    await expect(index).rejects.toMatchObject(refused)
    const enrich = inScope(mine, (trx) => trx('account').update({ purchased: 1_000 }))
    await expect(enrich).rejects.toMatchObject(refused)
  })
})
