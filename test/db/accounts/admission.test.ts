import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createAccount, createApiKey, keyDigest } from '../../../db/accounts/accounts.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { admit } from '../../../db/usage/metering.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
/** With the permissions of the API only. */
let api: Db
let accountId: string
let key: string

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 16)
})
beforeEach(async () => {
  ;({ id: accountId, key } = await newAccount())
})
afterAll(async () => {
  await api.destroy()
  await database.drop()
})

async function newAccount() {
  const { id } = await createAccount(database.db, { name: 'test', plan: 'free' })
  return { id, key: await createApiKey(database.db, id, { name: 'test' }) }
}

const ask = (as: string, cost = 1) =>
  admit(api, { key: as, requestId: newId('req_'), cost, route: 'GET /test', scope: 'read' })

const times = <Result>(count: number, make: () => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, make))

async function expectIndexed(id: string): Promise<void> {
  const account = await database
    .db('account')
    .where({ id })
    .first<{ granted: bigint; purchased: bigint }>('granted', 'purchased')
  const entries = await database
    .db('ledger')
    .where({ account_id: id })
    .select<{ delta: bigint }[]>('delta')
  const sum = entries.reduce((total, { delta }) => total + delta, 0n)
  expect(sum).toBe(account.granted + account.purchased)
}

describe('admit: concurrent calls', () => {
  test('of many accounts: each gets the result of its own key and rate limit', async () => {
    const accounts = await times(20, newAccount)
    await database
      .db('api_key')
      .where({ key_hash: keyDigest(key) })
      .delete()
    const twice = [...accounts, ...accounts]
    const answers = await Promise.all([...twice.map((one) => ask(one.key)), ask(key)])
    expect(answers.pop()).toBeUndefined()
    expect(answers.map((one) => one?.accountId)).toEqual(twice.map(({ id }) => id))
    const balances = [...Array<bigint>(20).fill(99n), ...Array<bigint>(20).fill(98n)]
    expect(answers.map((one) => one?.balance)).toEqual(balances)
    for (const { id } of accounts) await expectIndexed(id)
  })

  test('are counted and charged in their order', async () => {
    // The clock steps back, so the current minute lasts for at least one more minute.
    const win = Math.floor(Date.now() / 60_000) + 1
    await database
      .db('account')
      .where({ id: accountId })
      .update({ rpm: 4, win, monthly_credits: 10 })
    const answers = await Promise.all([9, 2, 1, 0, 0].map((cost) => ask(key, cost)))
    expect(answers.map((one) => [one?.verdict, one?.used, one?.balance])).toEqual([
      ['admitted', 1, 1n],
      ['outOfCredits', 2, 1n],
      ['admitted', 3, 0n],
      ['admitted', 4, 0n],
      ['rateLimited', 4, 0n],
    ])
    await expectIndexed(accountId)
  })

  test('a locked account delays only its own calls', async () => {
    const free = await newAccount()
    const admitted = Array(40).fill(expect.objectContaining({ verdict: 'admitted' }))
    const held = await database.db.transaction(async (trx) => {
      await trx('account').where({ id: accountId }).forNoKeyUpdate().select('id')
      // More than the connections of the pool.
      const waiting = times(40, () => ask(key))
      expect(await times(40, () => ask(free.key))).toEqual(admitted)
      return { waiting }
    })
    expect(await held.waiting).toEqual(admitted)
    await expectIndexed(accountId)
  })
})
