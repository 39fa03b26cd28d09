import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount, createApiKey, grantCredits } from '../../../db/accounts/accounts.js'
import { connectChains } from '../../../evm/connect.js'
import { newPerson, pagesOf } from '../dashboard/people.js'
import { silentChains, startChains } from '../../planning/chains.js'
import { countEffects } from '../../support/duplicates.js'
import { startFaultProxy } from '../../support/faultProxy.js'
import { startApi, startWorld, type ApiResponse, type TestApi, type ApiWorld } from '../api.js'

/** One read and some writes, all held up in the database until the time limit has answered for them. */
let world: ApiWorld
/** Answers late requests with 503 after a tenth of a second. */
let hasty: TestApi
let accountId: string
let key: string
let late: { read: ApiResponse; write: ApiResponse; keyless: ApiResponse }

const PAID = 50

beforeAll(async () => {
  world = await startWorld()
  const parts = { db: world.db, temporal: world.temporal.client, ...silentChains() }
  hasty = await startApi({ ...parts, answerMs: 100 })
  const { db } = world.database
  ;({ id: accountId } = await createAccount(db, { name: 'test', plan: 'pro' }))
  await db('account').where({ id: accountId }).update({ monthly_credits: 0 })
  await grantCredits(db, accountId, { credits: PAID })
  key = await createApiKey(db, accountId, { name: 'test' })
  late = await db.transaction(async (trx) => {
    await trx.raw('lock table wallet in access exclusive mode')
    const keylessCall = hasty.call('POST', '/v1/wallets', { key, body: { userId: 'keyless' } })
    const [read, write, keyless] = await Promise.all([list(hasty), create(hasty), keylessCall])
    return { read, write, keyless }
  })
})
afterAll(async () => {
  await hasty?.stop()
  await world?.stop()
})

const list = (api: TestApi) => api.call('GET', '/v1/wallets', { key })
const create = (api: TestApi) => {
  const headers = { 'idempotency-key': 'late' }
  return api.call('POST', '/v1/wallets', { key, headers, body: { userId: 'late' } })
}

type LedgerLine = { reason: string; delta: bigint }
const ledger = () =>
  world.database
    .db('ledger')
    .where({ account_id: accountId })
    .whereNot({ reason: 'purchase' })
    .orderBy('id')
    .select<LedgerLine[]>('reason', 'delta')

/** What was answered by the limit goes on, and ends some time later. */
async function untilLogged(line: string, count: number): Promise<void> {
  const logged = () => hasty.logText().split(line).length - 1
  while (logged() < count) await sleep(20)
  expect(logged()).toBe(count)
}

describe('a response after the deadline', () => {
  test('was answered with 503, names no special reason and shows no charge', () => {
    for (const { status, body, headers } of [late.read, late.write, late.keyless]) {
      expect([status, body.error, body.details.reason]).toEqual([503, 'UNAVAILABLE', undefined])
      expect([headers.get('retry-after'), headers.get('x-credits-charged')]).toEqual(['1', '0'])
    }
  })

  test('a read is refunded, a write is rolled back with its charge', async () => {
    await untilLogged('late request rolled back', 2)
    while ((await ledger()).length < 2) await sleep(20)
    expect(await ledger()).toEqual([
      { reason: 'charge:GET /wallets', delta: -1n },
      { reason: 'refund', delta: 1n },
    ])
    expect(await world.database.db('wallet').where({ account_id: accountId })).toEqual([])
    const { body } = await world.api.call('GET', '/dashboard/credits', { key })
    expect(body).toMatchObject({ balance: PAID, totalUsed: 0 })
  })

  test('a repeated write is executed', async () => {
    const again = await create(world.api)
    expect(again).toMatchObject({ status: 201, body: { userId: 'late' } })
    expect(again.headers.has('idempotent-replayed')).toBe(false)
    expect(await world.database.db('wallet').where({ account_id: accountId })).toHaveLength(1)
  })

  test('sends no second response and no error', () => {
    const failures = hasty
      .logText()
      .split('\n')
      .filter((line) => /request failed/.test(line))
    expect(failures).toHaveLength(3)
    for (const line of failures) expect(line).toContain('did not answer in time')
  })
})

describe('a deadline during the commit', () => {
  /** Makes each commit of a wallet last longer than the time limit. */
  const slowDown = () =>
    world.database.db.raw(`
      create function dawdle() returns trigger language plpgsql as
        $$ begin perform pg_sleep(2); return null; end $$;
      create constraint trigger dawdle after insert on wallet
        deferrable initially deferred for each row execute function dawdle()`)
  let slow: TestApi
  beforeAll(async () => {
    const parts = { db: world.db, temporal: world.temporal.client, ...silentChains() }
    slow = await startApi({ ...parts, answerMs: 1_000 })
  })
  afterEach(() => world.database.db.raw('drop function if exists dawdle cascade'))
  afterAll(() => slow?.stop())

  test('503 with the reason outcome_unknown, and a repeat with the key returns what was done', async () => {
    await slowDown()
    const headers = { 'idempotency-key': 'in flight' }
    const request = { key, headers, body: { userId: 'in flight' } }
    const lost = await slow.call('POST', '/v1/wallets', request)
    expect([lost.status, lost.body.error]).toEqual([503, 'UNAVAILABLE'])
    expect(lost.body.details.reason).toBe('outcome_unknown')
    expect(lost.headers.has('x-credits-charged')).toBe(false)
    const again = await world.api.call('POST', '/v1/wallets', request)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(await world.database.db('wallet').where({ user_id: 'in flight' })).toHaveLength(1)
  })

  test('503 with the reason outcome_unknown when the database is lost', async () => {
    await slowDown()
    const lost = world.api.call('POST', '/v1/wallets', { key, body: { userId: 'cut' } })
    const { db } = world.database
    const cut = () =>
      db.raw<{ rows: unknown[] }>(`select pg_terminate_backend(pid) from pg_stat_activity
        where state = 'active' and query ilike 'commit%' and datname = current_database()`)
    while ((await cut()).rows.length === 0) await sleep(20)
    expect((await lost).body.details.reason).toBe('outcome_unknown')
  })
})

test('a member of the dashboard: what is answered with 503 is rolled back', async () => {
  const { cookie, accountId: own } = await newPerson(world)
  const { db } = world.database
  const parts = { db: world.db, temporal: world.temporal.client, ...silentChains() }
  const api = await startApi({ ...parts, answerMs: 500 })
  const answer = await db.transaction(async (trx) => {
    await trx.raw('lock table api_key in access exclusive mode')
    const body = { name: 'late', scopes: ['read'] }
    return pagesOf({ api })('POST', '/keys', { cookie, body })
  })
  expect([answer.status, answer.body.error]).toEqual([503, 'UNAVAILABLE'])
  while (!api.logText().includes('late request rolled back')) await sleep(20)
  expect(await db('api_key').where({ account_id: own })).toEqual([])
  await api.stop()
})

describe('slow nodes', () => {
  test.each([
    ['/v1/intents', (walletId: string) => ({ walletId, action: 'lend', amount: 1 })],
    ['/v1/demo/fund', (walletId: string) => ({ walletId })],
  ])('POST %s is answered with 503, and nothing is stored or charged', async (path, body) => {
    const { db } = world.database
    const chains = await startChains(['arbitrum-sepolia'])
    const proxy = await startFaultProxy(chains.urls['arbitrum-sepolia'])
    const slow = connectChains(chains.registry, {
      ...chains.urls,
      'arbitrum-sepolia': proxy.url,
    })
    const parts = { db: world.db, temporal: world.temporal.client, registry: chains.registry }
    const api = await startApi({ ...parts, chains: slow, answerMs: 200 })
    const user = { userId: `slow ${path}` }
    const { body: wallet } = await world.api.call('POST', '/v1/wallets', { key, body: user })
    await chains.mint('arbitrum-sepolia', String(wallet.address), 10_000_000n)
    await chains.index(db)
    const before = await countEffects(db, accountId)
    proxy.set(() => ({ delayMs: 300 }))
    // A funding reads no node, so its lock is held up instead.
    const answer = await db.transaction(async (trx) => {
      if (path === '/v1/demo/fund') await trx.raw('lock table funding in access exclusive mode')
      return api.call('POST', path, { key, body: body(wallet.id) })
    })
    expect([answer.status, answer.body.error]).toEqual([503, 'UNAVAILABLE'])
    expect(answer.body.details.reason).toBeUndefined()
    while (!api.logText().includes('late request rolled back')) await sleep(20)
    expect(await countEffects(db, accountId)).toEqual(before)
    expect(await db('funding').where({ account_id: accountId })).toEqual([])
    await api.stop()
    for (const client of slow.list) client.close()
    await proxy.stop()
    await chains.stop()
  })
})
