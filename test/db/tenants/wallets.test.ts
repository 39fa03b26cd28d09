import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { connect, type Db } from '../../../db/connection/connect.js'
import { scopeTransaction } from '../../../db/connection/scope.js'
import { createAccount } from '../../../db/tenants/accounts.js'
import { insertWallet, listWallets, newWalletId, walletById } from '../../../db/tenants/wallets.js'
import { newId } from '../../../db/connection/ids.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
/** With the rights of the API only. */
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

function insert(userId: string, as = accountId) {
  const wallet = { id: newWalletId(), accountId: as, userId, address: newId('0x'), metadata: {} }
  return api.transaction(async (trx) => {
    await scopeTransaction(trx, as)
    return insertWallet(trx, wallet, { kekId: 'kek', sealed: Buffer.alloc(113) })
  })
}
const stored = () =>
  database.db('wallet').where({ account_id: accountId }).orderBy('user_id').pluck('user_id')

describe('insertWallet', () => {
  test('makes exactly as many as the plan allows, whatever others have', async () => {
    const { id: other } = await createAccount(database.db, { name: 'other', plan: 'free' })
    for (const userId of ['a', 'b', 'c']) await insert(userId, other)
    await setLimit(2)
    expect([(await insert('a'))?.userId, (await insert('b'))?.userId]).toEqual(['a', 'b'])
    const refused = { code: 'WALLET_LIMIT_EXCEEDED', details: { limit: 2 } }
    await expect(insert('c')).rejects.toMatchObject(refused)
    expect(await stored()).toEqual(['a', 'b'])
  })

  test('a plan without a limit has none; one of nothing allows nothing', async () => {
    await setLimit(null)
    expect(await insert('a')).toBeDefined()
    await setLimit(0)
    await expect(insert('b')).rejects.toMatchObject({ code: 'WALLET_LIMIT_EXCEEDED' })
  })

  test('the wallet that a user has is not made again, and is no reason to refuse', async () => {
    await setLimit(1)
    await insert('a')
    expect(await insert('a')).toBeUndefined()
    expect(await stored()).toEqual(['a'])
  })
})

describe('wallets of an account', () => {
  test('a list has one more than its limit when others follow, and begins below its cursor', async () => {
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

  test('one of another account is not found', async () => {
    const wallet = await insert('a')
    const { id: other } = await createAccount(database.db, { name: 'other', plan: 'free' })
    expect(await walletById.find(api, accountId, wallet?.id ?? '')).toMatchObject({ userId: 'a' })
    expect(await walletById.find(api, other, wallet?.id ?? '')).toBeUndefined()
  })
})
