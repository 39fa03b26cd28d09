import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, type Db } from '../../../db/client/connect.js'
import {
  claimKey,
  deleteExpiredKeys,
  findAnswer,
  fingerprintOf,
  storeAnswer,
  type IdempotencyKey,
} from '../../../db/accounts/idempotency.js'
import { newId } from '../../../db/client/ids.js'
import { scopeTransaction } from '../../../db/client/scope.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { insertTestWallet } from '../rows.js'

let database: TestDatabase
let api: Db
let worker: Db
let accountId: string

beforeAll(async () => {
  database = await createDatabase()
  api = connect(database.urlAs('steward_api'), 8)
  worker = connect(database.urlAs('steward_worker'), 2)
  ;({ accountId } = await insertTestWallet(database.db))
})
afterAll(async () => {
  await Promise.all([api?.destroy(), worker?.destroy()])
  await database?.drop()
})

const newKey = (values: Partial<IdempotencyKey> = {}): IdempotencyKey => ({
  ...{ accountId, endpoint: '/v1/wallets', key: newId(''), fingerprint: Buffer.alloc(32, 1) },
  expires: true,
  ...values,
})

/** The use of a key by a POST. Undefined when another request claimed it first. */
function keep(key: IdempotencyKey, body: string): Promise<string | undefined> {
  return api.transaction(async (trx) => {
    await scopeTransaction(trx, accountId)
    if (!(await claimKey(trx, key))) return undefined
    await storeAnswer(trx, key, { status: 201, body })
    return body
  })
}
const rowOf = ({ key }: IdempotencyKey) => database.db('idempotency_key').where({ key })
/** Makes the key older by this time. */
const age = (key: IdempotencyKey, time: string) =>
  rowOf(key).update({
    created_at: database.db.raw('created_at - ?::interval', [time]),
    expires_at: database.db.raw('expires_at - ?::interval', [time]),
  })

describe('fingerprintOf', () => {
  const same = (a: unknown, b: unknown) => fingerprintOf(a).equals(fingerprintOf(b))

  test('ignores the order of members at any depth, and treats absent as undefined', () => {
    const body = { a: 1, b: { c: [{ d: 1, e: 2 }], f: null } }
    expect(same(body, { b: { f: null, c: [{ e: 2, d: 1 }] }, a: 1, x: undefined })).toBe(true)
  })

  test.each([
    ['a value', { a: 1 }, { a: 2 }],
    ['a type', { a: 1 }, { a: '1' }],
    ['a name', { a: 1 }, { b: 1 }],
    ['the order of a list', { a: [1, 2] }, { a: [2, 1] }],
    ['a depth', { a: { b: 1 } }, { a: [{ b: 1 }] }],
    ['null and absent', { a: null }, {}],
    ['an additional member', { a: 1 }, { a: 1, b: 2 }],
  ])('depends on %s', (_title, one, other) => {
    expect(same(one, other)).toBe(false)
  })
})

describe('findAnswer', () => {
  test('finds an answer for 30 days', async () => {
    const key = newKey()
    await keep(key, 'first')
    await age(key, '29 days 23 hours 59 minutes')
    expect(await findAnswer(api, key)).toMatchObject({ status: 201, body: 'first' })
    await age(key, '1 minute')
    expect(await findAnswer(api, key)).toBeUndefined()
  })

  test('finds the answer of a key without expiry after years', async () => {
    const key = newKey({ endpoint: '/v1/intents', expires: false })
    await keep(key, 'first')
    await age(key, '10 years')
    expect(await findAnswer(api, key)).toMatchObject({ body: 'first' })
    expect(await keep(key, 'second')).toBeUndefined()
  })
})

describe('claimKey', () => {
  test('reclaims an expired key for another request, for 30 more days', async () => {
    const key = newKey()
    await keep(key, 'first')
    expect(await keep(key, 'second')).toBeUndefined()
    await age(key, '30 days')
    const other = { ...key, fingerprint: Buffer.alloc(32, 2) }
    expect(await keep(other, 'second')).toBe('second')
    await age(key, '29 days')
    expect(await findAnswer(api, key)).toEqual({
      ...{ status: 201, body: 'second', fingerprint: other.fingerprint },
    })
  })

  test('two concurrent claims of an expired key: one succeeds', async () => {
    for (let i = 0; i < 10; i++) {
      const key = newKey()
      await keep(key, 'old')
      await age(key, '31 days')
      const kept = await Promise.all(['a', 'b', 'c', 'd'].map((body) => keep(key, body)))
      const winners = kept.filter((body) => body !== undefined)
      expect(winners).toHaveLength(1)
      expect(await findAnswer(api, key)).toMatchObject({ body: winners[0] })
    }
  })
})

describe('deleteExpiredKeys', () => {
  const isThere = async (key: IdempotencyKey) => (await rowOf(key).select('key')).length === 1

  test('deletes an expired key, and keeps a recent one and one without expiry', async () => {
    const [old, young] = [newKey(), newKey()]
    const intent = newKey({ endpoint: '/v1/intents', expires: false })
    for (const key of [old, young, intent]) await keep(key, 'answer')
    await age(old, '30 days')
    await age(young, '29 days')
    await age(intent, '10 years')
    await deleteExpiredKeys(worker, 1_000)
    expect(await Promise.all([old, young, intent].map(isThere))).toEqual([false, true, true])
  })

  test('deletes at most the given number, the oldest first', async () => {
    await deleteExpiredKeys(worker, 1_000)
    const keys = Array.from({ length: 5 }, () => newKey())
    for (const [i, key] of keys.entries()) {
      await keep(key, 'answer')
      await age(key, `${40 - i} days`)
    }
    expect(await deleteExpiredKeys(worker, 2)).toBe(2)
    expect(await Promise.all(keys.map(isThere))).toEqual([false, false, true, true, true])
    expect(await deleteExpiredKeys(worker, 10)).toBe(3)
    expect(await deleteExpiredKeys(worker, 10)).toBe(0)
  })

  test('keeps an expired key that is being reclaimed', async () => {
    const key = newKey()
    await keep(key, 'old')
    await age(key, '31 days')
    const deleted = await api.transaction(async (trx) => {
      await scopeTransaction(trx, accountId)
      expect(await claimKey(trx, key)).toBe(true)
      const deleting = deleteExpiredKeys(worker, 10)
      await waitForLock(database.db)
      await storeAnswer(trx, key, { status: 201, body: 'new' })
      return { deleting }
    })
    expect(await deleted.deleting).toBe(0)
    expect(await findAnswer(api, key)).toMatchObject({ body: 'new' })
  })
})

/** Waits until a statement waits for the row lock of another. */
async function waitForLock(db: Db): Promise<void> {
  const waiting = () =>
    db('pg_stat_activity')
      .where({ wait_event_type: 'Lock', datname: db.raw('current_database()') })
      .select('pid')
  while ((await waiting()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
}
