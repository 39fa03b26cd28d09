import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount, createApiKey, grantCredits } from '../../../db/accounts/accounts.js'
import { silentChains } from '../../planning/chains.js'
import { startApi, startWorld, type ApiResponse, type TestApi, type ApiWorld } from '../api.js'

/** One read and one write, both held up in the database until the time limit has answered for them. */
let world: ApiWorld
/** Answers late requests with 503 after a tenth of a second. */
let hasty: TestApi
let accountId: string
let key: string
let late: { read: ApiResponse; write: ApiResponse }

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
    const [read, write] = await Promise.all([list(hasty), create(hasty)])
    return { read, write }
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
async function waitForLedger(entries: LedgerLine[]): Promise<void> {
  const sum = (all: LedgerLine[]) => JSON.stringify(all.map(({ reason }) => reason).sort())
  for (let tries = 0; tries < 250; tries++) {
    if (sum(await ledger()) === sum(entries)) break
    await sleep(20)
  }
  expect(await ledger()).toEqual(expect.arrayContaining(entries))
  expect(await ledger()).toHaveLength(entries.length)
}

describe('a response after the deadline', () => {
  test('was answered with 503 and shows no charge', () => {
    for (const { status, body, headers } of [late.read, late.write]) {
      expect([status, body.error]).toEqual([503, 'UNAVAILABLE'])
      expect([headers.get('retry-after'), headers.get('x-credits-charged')]).toEqual(['1', '0'])
    }
  })

  test('a read is refunded, an executed write is charged', async () => {
    await waitForLedger([
      { reason: 'charge:GET /wallets', delta: -1n },
      { reason: 'refund', delta: 1n },
      { reason: 'charge:POST /wallets', delta: -1n },
    ])
    const { body } = await world.api.call('GET', '/dashboard/credits', { key })
    expect(body).toMatchObject({ balance: PAID - 1, totalUsed: 1 })
  })

  test('a repeated write gets the stored response and is not executed again', async () => {
    const again = await create(world.api)
    expect(again).toMatchObject({ status: 201, body: { userId: 'late' } })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await world.database.db('wallet').where({ account_id: accountId })).toHaveLength(1)
  })

  test('sends no second response and no error', () => {
    const failures = hasty
      .logText()
      .split('\n')
      .filter((line) => /request failed/.test(line))
    expect(failures).toHaveLength(2)
    for (const line of failures) expect(line).toContain('did not answer in time')
  })
})
