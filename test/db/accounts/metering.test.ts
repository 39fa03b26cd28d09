import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import fc from 'fast-check'
import {
  createAccount,
  createApiKey,
  grantCredits,
  type Scope,
} from '../../../db/accounts/accounts.js'
import { revokeApiKey } from '../../../db/accounts/apiKeys.js'
import { connect, type Db } from '../../../db/client/connect.js'
import { newId } from '../../../db/client/ids.js'
import { admit, charge, readCredits, refund } from '../../../db/usage/metering.js'
import { holdsAsync } from '../../domain/plan/holds.js'
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
  ;({ id: accountId } = await createAccount(database.db, { name: 'test', plan: 'free' }))
  key = await createApiKey(database.db, accountId, { name: 'test' })
})
afterAll(async () => {
  await api.destroy()
  await database.drop()
})

const account = () => database.db('account').where({ id: accountId })
const setAccount = (values: object) => account().update(values)

type AdmitOptions = { requestId?: string; scope?: Scope }
function call(cost = 1, { requestId = newId('req_'), scope = 'read' }: AdmitOptions = {}) {
  return admit(api, { key, requestId, cost, route: 'GET /test', scope })
}
/** The clock steps back, so the current minute lasts for at least one more minute. */
const nextMinute = () => Math.floor(Date.now() / 60_000) + 1

const times = <Result>(count: number, make: () => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, make))

type Buckets = { granted: bigint; purchased: bigint; total_used: bigint; period: number }
const buckets = () => account().first<Buckets>('granted', 'purchased', 'total_used', 'period')

type LedgerAmount = { reason: string; delta: bigint }
const ledger = () =>
  database
    .db('ledger')
    .where({ account_id: accountId })
    .orderBy('id')
    .select<LedgerAmount[]>('reason', 'delta')

async function expectIndexed(): Promise<void> {
  const { granted, purchased } = await buckets()
  const entries = await ledger()
  const sum = entries.reduce((total, { delta }) => total + delta, 0n)
  expect(sum).toBe(granted + purchased)
}

describe('admit: rate limit', () => {
  test('counts each call, and returns the minute that counts it', async () => {
    const first = await call()
    const second = await call()
    expect(first).toMatchObject({ verdict: 'admitted', limit: 100, used: 1, tier: 'free' })
    expect(second?.resetAt).toBe(60 * Math.ceil((second?.resetAt ?? 0) / 60))
    // The minute may end in between. Then the count starts at one.
    expect(second?.used).toBe(second?.resetAt === first?.resetAt ? 2 : 1)
    expect(first?.retryAfter).toBeGreaterThanOrEqual(1)
    expect(first?.retryAfter).toBeLessThanOrEqual(60)
  })

  test('rejects calls above the limit, without a charge', async () => {
    await setAccount({ win: nextMinute(), win_used: 99 })
    expect(await call()).toMatchObject({ verdict: 'admitted', used: 100, balance: 99n })
    expect(await call()).toMatchObject({ verdict: 'rateLimited', used: 100, balance: 99n })
    await expectIndexed()
  })

  test('a clock that steps back does not start a new minute', async () => {
    await setAccount({ win: nextMinute(), win_used: 100 })
    expect(await call()).toMatchObject({ verdict: 'rateLimited' })
  })

  test('a clock that was far ahead for a moment rejects no later calls', async () => {
    await setAccount({ win: 10_000_000_000, win_used: 100 })
    expect(await call()).toMatchObject({ verdict: 'admitted', used: 1 })
  })

  test('a new minute starts at one', async () => {
    await setAccount({ win: 1, win_used: 100 })
    expect(await call()).toMatchObject({ verdict: 'admitted', used: 1 })
  })

  test('64 concurrent calls over 16 connections: exactly the limit is admitted', async () => {
    await setAccount({ rpm: 40, win: nextMinute(), win_used: 0 })
    const calls = await times(64, () => call(0))
    expect(calls.filter((one) => one?.verdict === 'admitted')).toHaveLength(40)
    const counted = calls.filter((one) => one?.verdict === 'admitted').map((one) => one?.used ?? 0)
    expect(counted.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
  })
})

describe('admit: credits', () => {
  test('grants the monthly credits once, with the first call', async () => {
    const calls = await times(16, () => call())
    expect(calls.map((one) => one?.verdict)).toEqual(Array(16).fill('admitted'))
    expect(await buckets()).toMatchObject({ granted: 84n, purchased: 0n, total_used: 16n })
    const grants = (await ledger()).filter(({ reason }) => reason.startsWith('grant:'))
    expect(grants).toEqual([{ reason: expect.stringMatching(/^grant:\d{6}$/), delta: 100n }])
    await expectIndexed()
  })

  test('a new month: the rest of the old one lapses, purchased credits stay', async () => {
    await grantCredits(database.db, accountId, { credits: 50 })
    await call(30)
    await setAccount({ period: 202_001 })
    expect(await call()).toMatchObject({ balance: 149n })
    expect(await buckets()).toMatchObject({ granted: 99n, purchased: 50n })
    expect(await ledger()).toContainEqual({ reason: 'lapse:202001', delta: -70n })
    await expectIndexed()
  })

  test('grants a new month once, with any number of concurrent calls', async () => {
    await call()
    await setAccount({ period: 202_001 })
    await times(16, () => call())
    expect(await buckets()).toMatchObject({ granted: 84n })
    await expectIndexed()
  })

  test('a clock that goes back a month grants nothing', async () => {
    await call()
    await setAccount({ period: 999_912 })
    expect(await call()).toMatchObject({ balance: 98n })
    expect((await buckets()).period).toBe(999_912)
  })

  test('spends monthly credits first', async () => {
    await grantCredits(database.db, accountId, { credits: 10 })
    await call(98)
    expect(await buckets()).toMatchObject({ granted: 2n, purchased: 10n })
    await call(5)
    expect(await buckets()).toMatchObject({ granted: 0n, purchased: 7n, total_used: 103n })
    await expectIndexed()
  })

  test('too few credits: rejected and counted, without a charge', async () => {
    await call(97)
    expect(await call(5)).toMatchObject({ verdict: 'outOfCredits', balance: 3n })
    expect(await call(3)).toMatchObject({ verdict: 'admitted', balance: 0n })
    await expectIndexed()
  })

  test('64 concurrent calls of 5 credits: 20 are admitted with 100 credits', async () => {
    const calls = await times(64, () => call(5))
    expect(calls.filter((one) => one?.verdict === 'admitted')).toHaveLength(20)
    expect(calls.filter((one) => one?.verdict === 'outOfCredits')).toHaveLength(44)
    await expectIndexed()
  })

  test('readCredits returns monthly and purchased credits together', async () => {
    await grantCredits(database.db, accountId, { credits: 50 })
    await call(30)
    const expected = { balance: 120, totalPurchased: 50, totalUsed: 30, plan: 'free' }
    expect(await readCredits(api, accountId)).toEqual(expected)
  })

  test('error: a used reference, and an unknown account', async () => {
    const pay = (id: string) =>
      grantCredits(database.db, id, { credits: 50, reference: `invoice ${id}` })
    await pay(accountId)
    await expect(pay(accountId)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(pay('acct_none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await buckets()).toMatchObject({ purchased: 50n })
    await expectIndexed()
  })
})

describe('refund', () => {
  test('returns the credits to their buckets, once', async () => {
    await grantCredits(database.db, accountId, { credits: 10 })
    const requestId = newId('req_')
    await call(105, { requestId })
    expect(await buckets()).toMatchObject({ granted: 0n, purchased: 5n })
    await times(8, () => refund(api, requestId))
    expect(await buckets()).toMatchObject({ granted: 100n, purchased: 10n, total_used: 0n })
    await expectIndexed()
  })

  test('changes nothing for a call without a charge', async () => {
    await call()
    await refund(api, newId('req_'))
    expect(await buckets()).toMatchObject({ granted: 99n })
  })

  test('in the next month returns only purchased credits: the others have lapsed', async () => {
    await grantCredits(database.db, accountId, { credits: 10 })
    const requestId = newId('req_')
    await call(105, { requestId })
    await setAccount({ period: 202_001 })
    await database.db('ledger').where({ request_id: requestId }).update({ period: 202_001 })
    await call(0)
    await refund(api, requestId)
    expect(await buckets()).toMatchObject({ granted: 100n, purchased: 10n })
    await expectIndexed()
  })

  test('in the next month, before its first call, lapses with the rest', async () => {
    const requestId = newId('req_')
    await call(40, { requestId })
    await setAccount({ period: 202_001 })
    await database.db('ledger').where({ request_id: requestId }).update({ period: 202_001 })
    await refund(api, requestId)
    expect(await buckets()).toMatchObject({ granted: 100n, period: 202_001 })
    await call(0)
    expect(await ledger()).toContainEqual({ reason: 'lapse:202001', delta: -100n })
    expect(await buckets()).toMatchObject({ granted: 100n })
    await expectIndexed()
  })
})

describe('charge', () => {
  const pay = (trx: Db, cost: number) =>
    charge(trx, { accountId, requestId: newId('req_'), cost, route: 'POST /test' })

  test('is part of its transaction, and the exact balance suffices', async () => {
    const failed = api.transaction(async (trx) => {
      expect(await pay(trx, 100)).toEqual({ paid: true, balance: 0n })
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect(await ledger()).toEqual([])
    await expectIndexed()
  })

  test('too few credits: charges nothing, and still starts a new month', async () => {
    expect(await pay(api, 101)).toEqual({ paid: false, balance: 100n })
    await expectIndexed()
  })

  test('does not wait for transactions that only reference the account', async () => {
    let arrived = 0
    let open = () => {}
    const bothArrived = new Promise<void>((resolve) => (open = resolve))
    // A claimed key references the account. Both transactions have one before either is charged.
    const post = (name: string) =>
      api.transaction(async (trx) => {
        await trx.raw(`select set_config('app.account', ?, true)`, [accountId])
        await trx('idempotency_key').insert({
          ...{ account_id: accountId, endpoint: '/test', key: name },
          ...{ fingerprint: Buffer.alloc(32), status: 0, body: '' },
        })
        if ((arrived += 1) === 2) open()
        await bothArrived
        return pay(trx, 5)
      })
    const paid = await Promise.all([post('a'), post('b')])
    expect(paid.map(({ balance }) => balance).sort()).toEqual([90n, 95n])
  })
})

describe('admit: keys', () => {
  test('returns undefined for a revoked and for an expired key', async () => {
    const [row] = await database.db('api_key').where({ account_id: accountId })
    await revokeApiKey(database.db, (row as { id: string }).id)
    expect(await call()).toBeUndefined()
    key = await createApiKey(database.db, accountId, { name: 'old', expiresAt: new Date(0) })
    expect(await call()).toBeUndefined()
    expect(await ledger()).toEqual([])
  })

  test('counts and does not charge a key without the scope', async () => {
    key = await createApiKey(database.db, accountId, { name: 'reader', scopes: ['read'] })
    expect(await call(1, { scope: 'write' })).toMatchObject({ verdict: 'outOfScope', used: 1 })
    expect(await buckets()).toMatchObject({ granted: 100n, total_used: 0n })
    expect(await call(1)).toMatchObject({ verdict: 'admitted', scopes: ['read'] })
  })

  test('records last_used_at, and updates it after a minute', async () => {
    const keyRow = () => database.db('api_key').where({ account_id: accountId })
    const read = async () => (await keyRow().first<{ last_used_at: Date | null }>()).last_used_at
    expect(await read()).toBeNull()
    await times(8, () => call())
    const noted = await read()
    expect(noted).toBeInstanceOf(Date)
    const old = new Date(Date.now() - 3_600_000)
    await keyRow().update({ last_used_at: old })
    await call()
    expect((await read())?.getTime()).toBeGreaterThan(old.getTime())
  })
})

describe('the ledger', () => {
  const steps = fc.oneof(
    fc.record({ kind: fc.constant('read' as const), cost: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ kind: fc.constant('pay' as const), cost: fc.integer({ min: 0, max: 60 }) }),
    fc.record({ kind: fc.constant('refund' as const), which: fc.nat({ max: 20 }) }),
    fc.record({ kind: fc.constant('grant' as const), credits: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ kind: fc.constant('month' as const) }),
  )
  type Step = typeof steps extends fc.Arbitrary<infer One> ? One : never

  async function take(step: Step, past: string[]): Promise<unknown> {
    const requestId = newId('req_')
    switch (step.kind) {
      case 'read':
        past.push(requestId)
        return call(step.cost, { requestId })
      case 'pay':
        past.push(requestId)
        return charge(api, { accountId, requestId, cost: step.cost, route: 'POST /test' })
      case 'refund':
        return refund(api, past[step.which % (past.length || 1)] ?? '')
      case 'grant':
        return grantCredits(database.db, accountId, { credits: step.credits })
      case 'month':
        // Moves all rows back by a month.
        await database.db('ledger').where({ account_id: accountId }).decrement('period', 1)
        return account().where('period', '>', 0).decrement('period', 1)
    }
  }

  test.each(['one after the other', 'four at once'])('equals the balance: %s', async (how) => {
    const property = fc.asyncProperty(fc.array(steps, { maxLength: 24 }), async (sequence) => {
      ;({ id: accountId } = await createAccount(database.db, { name: 'any', plan: 'free' }))
      key = await createApiKey(database.db, accountId, { name: 'any' })
      const past: string[] = []
      const size = how === 'four at once' ? 4 : 1
      for (let next = 0; next < sequence.length; next += size) {
        await Promise.all(sequence.slice(next, next + size).map((step) => take(step, past)))
        await expectIndexed()
      }
    })
    await holdsAsync(property, 40)
  })
})
