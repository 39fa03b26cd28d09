import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startChains, type TestChains } from '../../../planning/chains.js'
import { startWorld, type ApiResponse, type ApiWorld } from '../../api.js'
import type { Db } from '../../../../db/client/connect.js'

const usdc = 1_000_000n
/** More than the API has sessions of Postgres. */
const CROWD = 24

let chains: TestChains
let world: ApiWorld
let key: string
let other: string

beforeAll(async () => {
  chains = await startChains()
  world = await startWorld(chains)
  ;[key, other] = await Promise.all([world.newKey(), world.newKey()])
})
afterAll(async () => {
  await world.stop()
  await chains.stop()
})

let users = 0
async function newWallet(owner: string): Promise<string> {
  const body = { userId: `user ${(users += 1)}` }
  const created = await world.api.call('POST', '/v1/wallets', { key: owner, body })
  await chains.mint('base-sepolia', String(created.body.address), 1_000n * usdc)
  await chains.index(world.database.db)
  return created.body.id
}

const lend = (owner: string, walletId: string) =>
  world.api.call('POST', '/v1/intents', {
    key: owner,
    body: { walletId, action: 'lend', amount: 1 },
  })

describe('while a wallet of an account is locked', () => {
  let held: string
  let holder: Db
  let stuck: Promise<ApiResponse>[]
  let answered: number

  beforeEach(async () => {
    held = await newWallet(key)
    holder = await world.database.db.transaction()
    await holder('wallet').where({ id: held }).forUpdate().first('id')
    answered = 0
  })
  afterEach(async () => {
    await (holder as unknown as { rollback(): Promise<void> }).rollback()
    for (const { status } of await Promise.all(stuck)) expect(status).toBe(201)
  })

  async function crowd(count: number) {
    stuck = Array.from({ length: count }, async () => {
      const answer = await lend(key, held)
      answered += 1
      return answer
    })
    const { rows } = await untilWaiting(Math.min(count, 4))
    expect(rows.length).toBeGreaterThan(0)
  }

  /** Until so many statements wait for a lock. */
  async function untilWaiting(count: number) {
    for (;;) {
      const waiting = await world.database.db.raw<{ rows: object[] }>(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      if (waiting.rows.length >= count) return waiting
      await sleep(50)
    }
  }

  test('another wallet of the account is served', async () => {
    const free = await newWallet(key)
    await crowd(1)
    expect((await lend(key, free)).status).toBe(201)
    expect(answered).toBe(0)
  })

  test('another account is served, however many wait', async () => {
    const free = await newWallet(other)
    await crowd(CROWD)
    expect((await lend(other, free)).status).toBe(201)
    expect(answered).toBe(0)
  })
})

describe('many concurrent intents', () => {
  test('each is charged, and never more than there is', async () => {
    const poor = await world.newKey()
    const wallets = [await newWallet(poor), await newWallet(poor), await newWallet(poor)]
    const account = world.database.db('account').where({ id: await accountOf(String(wallets[0])) })
    await account.clone().update({ granted: 0, purchased: 5 * 10 + 4 })
    const answers = await Promise.all(
      Array.from({ length: CROWD }, (_, i) => lend(poor, String(wallets[i % 3]))),
    )
    const codes = answers.map(({ status }) => status).sort()
    expect(codes).toEqual([
      ...Array.from({ length: 10 }, () => 201),
      ...Array.from({ length: CROWD - 10 }, () => 402),
    ])
    expect(await account.clone().first('granted', 'purchased')).toEqual({
      ...{ granted: 0n, purchased: 4n },
    })
    const stored = world.database.db('intent').whereIn('wallet_id', wallets)
    expect(await stored.clone().select('id')).toHaveLength(10)
    const held = world.database.db('reservation').whereIn('wallet_id', wallets)
    expect(await held.select('intent_id')).toHaveLength(10)
  })
})

const accountOf = async (walletId: string) =>
  (
    await world.database
      .db('wallet')
      .where({ id: walletId })
      .first<{ id: string }>('account_id as id')
  ).id

describe('of an account with as many open intents as it may have', () => {
  const walletOf = async (owner: string) => {
    const walletId = await newWallet(owner)
    return { walletId, accountId: await accountOf(walletId) }
  }
  /** Only rows: they emit no events, and no worker starts them. */
  const insertOpen = async (count: number, { walletId, accountId }: Record<string, string>) =>
    world.database.db.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica')
      await trx.raw(
        `insert into intent (id, account_id, wallet_id, action, asset, units, status, request_id, plan, dispatched_at)
         select 'intent_' || i, ?, ?, 'lend', 'USDC', 1, 'executing', 'req', '{}', clock_timestamp()
         from generate_series(1, ?) as i`,
        [accountId ?? '', walletId ?? '', count],
      )
    })

  test('error: RATE_LIMITED for another one, until one has ended; other accounts go on', async () => {
    const full = await world.newKey()
    const { walletId, accountId } = await walletOf(full)
    await insertOpen(10_000, { walletId, accountId })
    const { status, body } = await lend(full, walletId)
    expect([status, body.error, body.details.window]).toEqual([429, 'RATE_LIMITED', 'open intents'])
    expect((await lend(other, await newWallet(other))).status).toBe(201)
    await world.database.db.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica')
      await trx('intent')
        .where({ id: 'intent_1' })
        .update({ status: 'completed', completed_at: new Date(), ended_at: new Date() })
    })
    expect((await lend(full, walletId)).status).toBe(201)
  })
})

describe('while Temporal takes its time', () => {
  const start = () => world.temporal.client.workflow
  const usual = { start: undefined as unknown }
  let letGo: () => void
  let asked: string[]

  beforeEach(() => {
    usual.start = start().start
    asked = []
    const gate = new Promise<void>((resolve) => (letGo = resolve))
    Object.assign(start(), {
      start: async (_workflow: string, { workflowId }: { workflowId: string }) => {
        asked.push(workflowId)
        await gate
      },
    })
  })
  afterEach(() => {
    letGo()
    Object.assign(start(), usual)
  })

  const dispatchedOf = async (id: string) =>
    (
      await world.database
        .db('intent')
        .where({ id })
        .first<{ at: Date | null }>('dispatched_at as at')
    ).at

  /** Starts of other intents may be asked for meanwhile, those of earlier tests too. */
  async function untilAsked(id: string): Promise<void> {
    while (!asked.includes(id)) await sleep(20)
  }

  test('the response does not wait for the start, which is stored when it happens', async () => {
    const { status, body } = await lend(key, await newWallet(key))
    expect(status).toBe(201)
    await untilAsked(body.id)
    expect(await dispatchedOf(body.id)).toBeNull()
    letGo()
    while ((await dispatchedOf(body.id)) === null) await sleep(20)
  })
})
