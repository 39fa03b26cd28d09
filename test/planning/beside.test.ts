import { setImmediate, setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { Wallet } from 'ethers'
import pg from 'pg'
import { connect, type Db } from '../../db/connection/connect.js'
import { scopeTransaction } from '../../db/connection/scope.js'
import { newId } from '../../db/connection/ids.js'
import { readCredits } from '../../db/tenants/metering.js'
import { storeBeside, storeIntent, type PlanningTools } from '../../planning/intents.js'
import { readMarket } from '../../planning/market.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { insertTestWallet, type TestWallet } from '../db/rows.js'
import { startChains, type TestChains } from './chains.js'
import type { Intent } from '../../db/intents/intents.js'

const chain = 'arbitrum-sepolia'
const usdc = 1_000_000n
const route = 'POST /v1/intents'
const cost = 25
/** Of one account at once. */
const CROWD = 6

/** Everything that any session asks, before it is made. */
const statements = jest.spyOn(pg.Client.prototype as { query(asked: unknown): unknown }, 'query')

let database: TestDatabase
let world: TestChains
let api: Db
let tools: PlanningTools
let account: TestWallet

beforeAll(async () => {
  ;[database, world] = await Promise.all([createDatabase(), startChains()])
  api = connect(database.urlAs('steward_api'), 30)
  const { chains, registry } = world
  tools = { db: api, chains, registry }
})
beforeEach(async () => {
  account = await insertTestWallet(database.db)
  await setCredits({ granted: 0, purchased: 10_000 })
})
afterAll(async () => {
  await api.destroy()
  await Promise.all([database.drop(), world.stop()])
  statements.mockRestore()
})

/** What the account has in this month. */
async function setCredits(credits: { granted: number; purchased: number }): Promise<void> {
  const period = database.db.raw('current_period()')
  await database
    .db('account')
    .where({ id: account.accountId })
    .update({ ...credits, period })
}

/** Wallets of one account that hold `units` each in the booked block. */
async function walletsWith(units: bigint, count: number): Promise<TestWallet[]> {
  const { accountId } = account
  const wallets = Array.from({ length: count }, () => {
    const { address } = Wallet.createRandom()
    return { id: newId('svc_wallet_'), accountId, address, requestId: newId('req_') }
  })
  for (const { address } of wallets) await world.mint(chain, address, units)
  await world.book(database.db)
  await database.db('wallet').insert(
    wallets.map(({ id, address }) => ({
      ...{ id, account_id: accountId, user_id: id, address, metadata: '{}' },
    })),
  )
  return wallets
}

type Said = { metadata?: Record<string, unknown>; amount?: bigint; as?: string }

const ownerOf = ({ id, accountId }: TestWallet, { metadata, as }: Said) => ({
  ...{ walletId: id, accountId: as ?? accountId, requestId: newId('req_') },
  ...(metadata && { metadata }),
})

const lend = (amountUnits: bigint) =>
  ({ action: 'lend', asset: 'USDC', amountUnits, chain }) as const

/** What a POST asks for first: USDC lent on `chain`, all that each wallet has. */
async function ask(wallet: TestWallet, said: Said = {}): Promise<Intent | undefined> {
  const request = lend(said.amount ?? usdc)
  const market = await readMarket(tools, wallet.address, request)
  const owner = ownerOf(wallet, said)
  const call = { accountId: owner.accountId, requestId: owner.requestId, cost, route }
  return storeBeside(tools, owner, { input: { request, market }, call })
}

/** As a POST does whose call is named, or that could not be stored beside others. */
async function hold(wallet: TestWallet): Promise<Intent> {
  const request = lend(usdc)
  const market = await readMarket(tools, wallet.address, request)
  return api.transaction(async (trx) => {
    await scopeTransaction(trx, wallet.accountId)
    return storeIntent({ ...tools, db: trx }, ownerOf(wallet, {}), { request, market })
  })
}

const stored = () => database.db('intent').where({ account_id: account.accountId })
const reserved = async (wallet: TestWallet) =>
  database.db('reservation').where({ wallet_id: wallet.id }).select<{ units: string }[]>('units')
const charges = () =>
  database
    .db('ledger')
    .where({ account_id: account.accountId, reason: `charge:${route}` })
    .select<{ request_id: string; delta: bigint }[]>('request_id', 'delta')
const balance = async () => (await readCredits(database.db, account.accountId)).balance

describe('storeBeside', () => {
  test('those of an account that come together share their statements, and each is charged', async () => {
    const wallets = await walletsWith(usdc, CROWD)
    const before = await balance()
    await ask(wallets[0] as TestWallet)
    statements.mockClear()
    const intents = await Promise.all(wallets.slice(1).map((wallet) => ask(wallet)))
    const ids = intents.map((intent) => intent?.id)
    expect(ids).not.toContain(undefined)
    expect(named('submit intents').length).toBeLessThan(CROWD - 1)
    expect(await stored()).toHaveLength(CROWD)
    for (const wallet of wallets) expect(await reserved(wallet)).toEqual([{ units: '1000000' }])
    const charged = await charges()
    expect(charged.map(({ delta }) => Number(delta))).toEqual(Array(CROWD).fill(-cost))
    expect(new Set(charged.map(({ request_id: id }) => id)).size).toBe(CROWD)
    expect(await balance()).toBe(before - CROWD * cost)
  })

  test('tells of the intent what its row tells', async () => {
    const [wallet] = (await walletsWith(usdc, 1)) as [TestWallet]
    const metadata = {
      note: 'a "b" \\ {c,d}\n\u2028é',
      zero: -0,
      list: [null, 'NULL'],
      absent: undefined,
    }
    const told = await ask(wallet, { metadata })
    const [other] = (await walletsWith(usdc, 1)) as [TestWallet]
    const row = await hold(other)
    const { plan, metadata: kept, units } = told as Intent
    expect(Object.keys(told ?? {}).sort()).toEqual(Object.keys(row).sort())
    expect({ ...told, ...varying }).toEqual({ ...row, metadata: kept, ...varying })
    const [there] = (await stored().where({ id: told?.id }).select('*')) as [Row]
    expect(there).toMatchObject({ metadata: kept, plan, units, status: 'planning' })
    expect(there.created_at).toEqual(told?.createdAt)
    expect(kept).toEqual({ note: metadata.note, zero: 0, list: [null, 'NULL'] })
  })

  test('nothing is stored or charged where its money was reserved meanwhile, for its mates it is', async () => {
    const wallets = await walletsWith(usdc, 3)
    const before = await balance()
    const [one, two, three] = await askBehind(wallets, async () => {
      await hold(wallets[1] as TestWallet)
    })
    expect([one?.status, two, three?.status]).toEqual(['planning', undefined, 'planning'])
    expect(await reserved(wallets[1] as TestWallet)).toEqual([{ units: '1000000' }])
    expect(await stored()).toHaveLength(3)
    expect(await balance()).toBe(before - 2 * cost)
    expect(await charges()).toHaveLength(2)
  })

  test('nothing is stored while somebody holds the wallet, and nobody waits for him', async () => {
    const [held, free] = (await walletsWith(usdc, 2)) as [TestWallet, TestWallet]
    await database.db.transaction(async (trx) => {
      await trx.raw('select from wallet where id = ? for no key update', [held.id])
      const [one, other] = await Promise.all([ask(held), ask(free)])
      expect([one, other?.status]).toEqual([undefined, 'planning'])
    })
    expect(await reserved(held)).toEqual([])
    expect(await charges()).toHaveLength(1)
  })

  test('of two that count on the same money one is stored', async () => {
    const [wallet] = (await walletsWith(usdc, 1)) as [TestWallet]
    const results = await Promise.all([ask(wallet), ask(wallet)])
    expect(results.filter((intent) => intent !== undefined)).toHaveLength(1)
    expect(await reserved(wallet)).toEqual([{ units: '1000000' }])
    expect(await charges()).toHaveLength(1)
    // What is left of it is nothing.
    expect(await ask(wallet)).toBeUndefined()
  })

  test('a rush of both ways never promises more than there is', async () => {
    const [wallet] = (await walletsWith(3n * usdc, 1)) as [TestWallet]
    const rush = Array.from({ length: 24 }, (_, i) => (i % 2 ? hold(wallet) : ask(wallet)))
    const results = await Promise.allSettled(rush)
    for (const result of results) {
      if (result.status === 'rejected') {
        expect(result.reason).toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
      }
    }
    const rows = await reserved(wallet)
    expect(rows.length).toBeLessThanOrEqual(3)
    expect(await stored()).toHaveLength(rows.length)
    const made = results.filter((one) => one.status === 'fulfilled' && one.value !== undefined)
    expect(made).toHaveLength(rows.length)
    for (let left = 3 - rows.length; left > 0; left--) await hold(wallet)
    await expect(hold(wallet)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
  })

  test('monthly credits go first, over all calls of a statement', async () => {
    await setCredits({ granted: cost + 5, purchased: 1_000 })
    await askBehind(await walletsWith(usdc, 3))
    const taken = await database
      .db('ledger')
      .where({ account_id: account.accountId, reason: `charge:${route}` })
      .select<{ from_granted: bigint }[]>('from_granted')
    expect(taken.map(({ from_granted: units }) => Number(units)).sort()).toEqual([0, 25, 5])
    expect(await database.db('account').where({ id: account.accountId }).first()).toMatchObject({
      ...{ granted: 0n, purchased: 1_000n - 2n * BigInt(cost) + 5n, total_used: 3n * BigInt(cost) },
    })
  })

  test('credits that do not suffice for all: none of them, and then the one that is asked alone', async () => {
    await setCredits({ granted: 0, purchased: 2 * cost + 1 })
    const wallets = await walletsWith(usdc, 3)
    const [first, ...others] = await askBehind(wallets)
    expect([first?.status, ...others]).toEqual(['planning', undefined, undefined])
    expect(await charges()).toHaveLength(1)
    expect(await balance()).toBe(cost + 1)
    expect(await ask(wallets[1] as TestWallet)).toMatchObject({ status: 'planning' })
    expect(await ask(wallets[2] as TestWallet)).toBeUndefined()
    expect(await balance()).toBe(1)
  })

  test('another account cannot spend from the wallet', async () => {
    const [wallet] = (await walletsWith(usdc, 1)) as [TestWallet]
    const stranger = await insertTestWallet(database.db)
    expect(await ask(wallet, { as: stranger.accountId })).toBeUndefined()
    expect(await reserved(wallet)).toEqual([])
    expect((await readCredits(database.db, stranger.accountId)).totalUsed).toBe(0)
  })

  test('what lacks, and what is to fail on demand, is left to who holds the wallet', async () => {
    const [wallet] = (await walletsWith(usdc, 1)) as [TestWallet]
    expect(await ask(wallet, { amount: usdc + 1n })).toBeUndefined()
    expect(await ask(wallet, { metadata: { simulate: 'DEPOSIT_FAILED' } })).toBeUndefined()
    expect(await stored()).toEqual([])
    expect(await charges()).toEqual([])
  })
})

type Row = { created_at: Date } & Record<string, unknown>

/** What differs between any two intents. */
const varying = { id: '', accountId: '', walletId: '', requestId: '', createdAt: '', plan: {} }

/**
 * Asks for one intent of each wallet while the account is held: the first one waits to be stored, and the others, which
 * are planned by the time of `meanwhile`, are stored together behind it.
 */
async function askBehind(
  [first, ...others]: TestWallet[],
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<(Intent | undefined)[]> {
  statements.mockClear()
  const trx = await database.db.transaction()
  await trx.raw('select from account where id = ? for no key update', [account.accountId])
  const asked = [ask(first as TestWallet)]
  while (named('submit intents').length === 0) await setTimeout(5)
  asked.push(...others.map((wallet) => ask(wallet)))
  const plannedFor = () => named('claims together').flatMap(({ values: [wallets] }) => wallets)
  while (plannedFor().length < 1 + others.length) await setTimeout(5)
  await Promise.all(named('claims together').map(({ answer }) => answer))
  await setImmediate()
  await meanwhile()
  await trx.commit()
  return Promise.all(asked)
}

/** The statements of a name that sessions were asked since they were forgotten. */
function named(name: string) {
  return statements.mock.calls.flatMap(([asked], i) => {
    const statement = asked as { name?: string; values: unknown[][] }
    if (statement.name !== name) return []
    return [{ values: statement.values, answer: statements.mock.results[i]?.value }]
  })
}
