import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import { charge, lockAccount } from '../../../db/usage/metering.js'
import { scopeTransaction, transactScoped } from '../../../db/client/scope.js'
import { pauseWork } from '../../../db/pauses.js'
import { createAccount } from '../../../db/accounts/accounts.js'
import { insertWallet, listWallets, newWalletId, walletById } from '../../../db/accounts/wallets.js'
import { newId } from '../../../db/client/ids.js'
import { insertTestIntent } from '../rows.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
/** With the permissions of the API only. */
let api: Db
let accountId: string

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 4)
  const kek = { id: 'kek', public_key: Buffer.alloc(32), active: true }
  await database.db('kek').insert(kek)
})
beforeEach(async () => {
  ;({ id: accountId } = await createAccount(database.db, { name: 'test', plan: 'free' }))
})
afterAll(async () => {
  await api?.destroy()
  await database?.drop()
})

const setLimit = (max_wallets: number | null) =>
  database.db('account').where({ id: accountId }).update({ max_wallets })

const secret = { kekId: 'kek', sealed: Buffer.alloc(113) }
const walletOf = (userId: string, as = accountId) => ({
  ...{ id: newWalletId(), accountId: as, userId, address: newId('0x'), metadata: {} },
})
const insert = (userId: string, as = accountId) =>
  api.transaction(async (trx) => {
    await scopeTransaction(trx, as)
    return insertWallet(trx, walletOf(userId, as), secret)
  })
const stored = () =>
  database.db('wallet').where({ account_id: accountId }).orderBy('user_id').pluck('user_id')

const giveCredits = (purchased: number) =>
  database.db('account').where({ id: accountId }).update({ purchased, monthly_credits: 0 })

/** Creates and charges a wallet as a POST does. */
const make = (userId: string): Promise<boolean> =>
  transactScoped(api, accountId, async (trx) => {
    await lockAccount(trx, accountId)
    if (!(await insertWallet(trx, walletOf(userId), secret))) return false
    const call = { accountId, requestId: newId('req_'), cost: 1, route: 'POST /wallets' }
    if (!(await charge(trx, call)).paid) throw new Error('not paid')
    return true
  }).catch(() => false)
const charged = () => database.db('ledger').where({ account_id: accountId }).pluck('delta')

describe('insertWallet', () => {
  test('creates exactly as many as the plan allows, regardless of other accounts', async () => {
    const { id: other } = await createAccount(database.db, { name: 'other', plan: 'free' })
    for (const userId of ['a', 'b', 'c']) await insert(userId, other)
    await setLimit(2)
    expect([(await insert('a'))?.userId, (await insert('b'))?.userId]).toEqual(['a', 'b'])
    const refused = { code: 'WALLET_LIMIT_EXCEEDED', details: { limit: 2 } }
    await expect(insert('c')).rejects.toMatchObject(refused)
    expect(await stored()).toEqual(['a', 'b'])
  })

  test('16 concurrent calls create exactly as many as plan and credits allow', async () => {
    const at16 = async () => {
      const all = await Promise.all(Array.from({ length: 16 }, (_, i) => make(`user ${i % 8}`)))
      return all.filter(Boolean).length
    }
    await giveCredits(3)
    expect(await at16()).toBe(3)
    await giveCredits(16)
    await setLimit(5)
    expect(await at16()).toBe(2)
    expect(await stored()).toHaveLength(5)
    expect(await charged()).toHaveLength(5)
  })

  test('stores the sealed key with the wallet', async () => {
    const { id } = (await insert('a')) ?? { id: '' }
    const secrets = await database.db('wallet_secret').where({ wallet_id: id })
    expect(secrets).toEqual([{ wallet_id: id, kek_id: 'kek', sealed: secret.sealed }])
  })

  test('a plan without a limit allows any number, a limit of zero allows none', async () => {
    await setLimit(null)
    expect(await insert('a')).toBeDefined()
    await setLimit(0)
    await expect(insert('b')).rejects.toMatchObject({ code: 'WALLET_LIMIT_EXCEEDED' })
  })

  test('returns undefined for a user who has a wallet, also at the limit', async () => {
    await setLimit(1)
    await insert('a')
    expect(await insert('a')).toBeUndefined()
    expect(await stored()).toEqual(['a'])
  })

  test('stores wallet and sealed key together, and neither for another account', async () => {
    const made = await insert('a')
    const secrets = await database.db('wallet_secret').where({ wallet_id: made?.id ?? '' })
    expect(secrets).toEqual([{ wallet_id: made?.id, kek_id: 'kek', sealed: Buffer.alloc(113) }])
    const { id: other } = await createAccount(database.db, { name: 'other', plan: 'free' })
    const refused = api.transaction(async (trx) => {
      await scopeTransaction(trx, accountId)
      const wallet = { id: newWalletId(), accountId: other, userId: 'b', address: '0xb' }
      const secret = { kekId: 'kek', sealed: Buffer.alloc(113) }
      return insertWallet(trx, { ...wallet, metadata: {} }, secret)
    })
    await expect(refused).rejects.toMatchObject({ code: '42501' })
  })

  test('returns the metadata exactly as a later read does', async () => {
    const wallet = { id: newWalletId(), accountId, userId: 'a', address: newId('0x') }
    const metadata = { zero: -0, text: 'ä', nested: { none: null } }
    const made = await transactScoped(api, accountId, (trx) => {
      const secret = { kekId: 'kek', sealed: Buffer.alloc(113) }
      return insertWallet(trx, { ...wallet, metadata }, secret)
    })
    expect(made).toEqual(await walletById.get(api, accountId, wallet.id))
  })
})

/** Far more than the pages that a lookup of one row reads. */
const MANY = 10_000
const FEW_PAGES = 80

describe('an account with many wallets', () => {
  type Explained = { Plan: Record<'Shared Hit Blocks' | 'Shared Read Blocks', number> }

  /** Pages of tables and indexes that the API reads for a statement. */
  function countPages(sql: string): Promise<number> {
    return transactScoped(api, accountId, async (trx) => {
      const text = `explain (analyze, buffers, format json) ${sql}`
      // The first query of a session also reads the catalogs.
      await trx.raw(`savepoint first; ${text}; rollback to first`)
      const { rows } = await trx.raw<{ rows: [{ 'QUERY PLAN': [Explained] }] }>(text)
      const [{ Plan: plan }] = rows[0]['QUERY PLAN']
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    })
  }

  /** One of its own wallets is frozen and has a reservation. */
  async function insertMany(): Promise<string> {
    const id = newWalletId()
    await database.db.raw(
      `insert into wallet (id, account_id, user_id, address, metadata)
        select ? || n, ?, n::text, ? || n, '{}' from generate_series(1, ?::int) n`,
      [id, accountId, newId('0x'), MANY],
    )
    const wallet = { id: `${id}1`, accountId, address: '0x', requestId: 'req_test' }
    const intentId = await insertTestIntent(database.db, wallet, 'executing')
    const units = { chain_id: 1, token: '0x', units: 1 }
    const row = { intent_id: intentId, sequence: 1, wallet_id: wallet.id, ...units }
    await database.db('reservation').insert(row)
    const order = { by: 'test', why: 'test' }
    await pauseWork(database.db, { scope: 'wallet', subject: wallet.id }, order)
    await database.db.raw('analyze wallet')
    return intentId
  }

  test('reads as many pages for one wallet as an account with few wallets', async () => {
    const intentId = await insertMany()
    const values = `'${newWalletId()}', '${accountId}', 'new', '${newId('0x')}', '{}'`
    const insert = `insert into wallet (id, account_id, user_id, address, metadata) values (${values})`
    expect(await countPages(insert)).toBeLessThan(FEW_PAGES)
    const reserved = `select * from reservation where intent_id = '${intentId}'`
    expect(await countPages(reserved)).toBeLessThan(FEW_PAGES)
    expect(await countPages('select id from pause')).toBeLessThan(FEW_PAGES)
  })
})

describe('listWallets', () => {
  test('a list has one more row than its limit when more follow, and starts below its cursor', async () => {
    const ids: string[] = []
    for (const userId of ['a', 'b', 'c']) ids.push((await insert(userId))?.id ?? '')
    const newestFirst = ids.sort().reverse()
    const slice = async (limit: number, before?: string) => {
      const page = { userId: undefined, slice: { limit, ...(before && { before }) } }
      return (await listWallets(api, accountId, page)).map(({ id }) => id)
    }
    expect(await slice(2)).toEqual(newestFirst)
    expect(await slice(1)).toEqual(newestFirst.slice(0, 2))
    expect(await slice(3, newestFirst[0])).toEqual(newestFirst.slice(1))
    expect(await slice(3, newestFirst[2])).toEqual([])
  })

  test('error: WALLET_NOT_FOUND for a wallet of another account', async () => {
    const wallet = await insert('a')
    const { id: other } = await createAccount(database.db, { name: 'other', plan: 'free' })
    expect(await walletById.find(api, accountId, wallet?.id ?? '')).toMatchObject({ userId: 'a' })
    expect(await walletById.find(api, other, wallet?.id ?? '')).toBeUndefined()
  })
})
