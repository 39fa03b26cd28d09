import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Wallet } from 'ethers'
import { connect, type Db } from '../../db/client/connect.js'
import { insertReservation } from '../../db/intents/reservations.js'
import {
  planPending,
  previewPlan,
  storeIntent,
  type PlanningTools,
} from '../../planning/intents.js'
import { readMarket } from '../../planning/market.js'
import { connectChains } from '../../evm/connect.js'
import type { IntentRequest } from '../../domain/intent/intent.js'
import type { NetworkName } from '../../evm/registry.js'
import { scopeTransaction } from '../../db/client/scope.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../db/rows.js'
import { closedUrl, mine, silentChains, startChains, type TestChains } from './chains.js'

const chain = 'arbitrum-sepolia'
const usdc = 1_000_000n
/** Rounds of concurrent intents on one balance: 200 in a long run, one by default. */
const ROUNDS = Number(process.env.ROUNDS ?? 1)

let database: TestDatabase
let world: TestChains
let api: Db
let tools: PlanningTools
/** Only `chain` responds. */
let oneAnswers: PlanningTools
const silent = silentChains()

beforeAll(async () => {
  ;[database, world] = await Promise.all([createDatabase(), startChains()])
  // With the permissions of the API only, and enough sessions for concurrency.
  api = connect(database.urlAs('steward_api'), 30)
  const { chains, registry } = world
  tools = { db: api, chains, registry }
  const urls = {
    'ethereum-sepolia': closedUrl,
    'base-sepolia': closedUrl,
    [chain]: world.urls[chain],
  }
  oneAnswers = { ...tools, chains: connectChains(registry, urls) }
})
afterAll(async () => {
  for (const client of oneAnswers.chains.list) client.close()
  await api.destroy()
  await Promise.all([database.drop(), world.stop()])
})

/** A wallet that holds `units` in the indexed block. */
async function walletWith(units: bigint): Promise<TestWallet> {
  const { address } = Wallet.createRandom()
  if (units > 0n) await world.mint(chain, address, units)
  await world.index(database.db)
  return insertTestWallet(database.db, address)
}

const ownerOf = ({ id, accountId, address, requestId }: TestWallet) => ({
  ...{ walletId: id, accountId, address, requestId },
})
/** Stores an intent as the API does for a POST, with the account's scope. */
async function createIntent(
  tools: PlanningTools,
  owner: ReturnType<typeof ownerOf> & { metadata?: Record<string, unknown> },
  request: IntentRequest,
) {
  const market = await readMarket(tools, owner.address, request)
  return tools.db.transaction(async (trx) => {
    await scopeTransaction(trx, owner.accountId)
    return storeIntent({ ...tools, db: trx }, owner, { request, market })
  })
}

const lend = (amountUnits: bigint, named?: string) => ({
  ...({ action: 'lend', asset: 'USDC', amountUnits } as const),
  ...(named ? { chain: named } : {}),
})
const create = (wallet: TestWallet, amountUnits: bigint, named: string | undefined = chain) =>
  createIntent(tools, ownerOf(wallet), lend(amountUnits, named))

const reservationsOf = (wallet: TestWallet) =>
  database.db('reservation').where({ wallet_id: wallet.id }).select<{ units: string }[]>()
const intentsOf = (wallet: TestWallet) =>
  database.db('intent').where({ wallet_id: wallet.id }).select<{ status: string }[]>()

describe('storeIntent', () => {
  test('stores the plan and reserves its money in one transaction', async () => {
    const wallet = await walletWith(3n * usdc)
    const intent = await create(wallet, 2n * usdc)
    expect(intent).toMatchObject({ status: 'planning', plan: { targetChain: chain } })
    expect(await reservationsOf(wallet)).toMatchObject([
      {
        ...{ intent_id: intent.id, sequence: 1, chain_id: 421_614n, units: '2000000' },
        ...{ from_block: 0n, spent_block: null, released_at: null },
        token: world.registry.get(chain).usdc.address.toLowerCase(),
      },
    ])
  })

  test('error: INSUFFICIENT_FUNDS when one base unit is missing, and nothing is stored', async () => {
    const wallet = await walletWith(usdc - 1n)
    await expect(create(wallet, usdc)).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      details: { required: '1', available: '0.999999' },
    })
    expect(await intentsOf(wallet)).toEqual([])
    expect(await reservationsOf(wallet)).toEqual([])
  })

  test('error: a simulated failure on a network with real money, planned or stored', async () => {
    const wallet = await walletWith(usdc)
    const owner = { ...ownerOf(wallet), metadata: { simulate: 'DEPOSIT_FAILED' } }
    const registry = { ...world.registry, network: 'mainnet' as NetworkName }
    const request = lend(usdc, chain)
    const refused = { code: 'INVALID_REQUEST', message: expect.stringContaining('test networks') }
    await expect(createIntent({ ...tools, registry }, owner, request)).rejects.toMatchObject(
      refused,
    )
    const market = await readMarket(tools, wallet.address, request)
    await expect(
      previewPlan({ db: api, registry }, owner, { request, market }),
    ).rejects.toMatchObject(refused)
    expect(await intentsOf(wallet)).toEqual([])
    await expect(createIntent(tools, owner, request)).resolves.toMatchObject({ status: 'planning' })
  })

  test('counts the reservations of other intents', async () => {
    const wallet = await walletWith(3n * usdc)
    await create(wallet, 2n * usdc)
    await expect(create(wallet, 2n * usdc)).rejects.toMatchObject({
      details: { required: '2', available: '1' },
    })
    await expect(create(wallet, usdc)).resolves.toMatchObject({ status: 'planning' })
  })

  test.each(Array.from({ length: ROUNDS }, (_, i) => i + 1))(
    '64 at once never promise more than the balance, round %i',
    async () => {
      const wallet = await walletWith(10n * usdc)
      const amounts = Array.from({ length: 64 }, (_, i) => BigInt(1 + (i % 3)) * usdc)
      const results = await Promise.allSettled(amounts.map((amount) => create(wallet, amount)))
      const reasons = results.flatMap((r) => (r.status === 'rejected' ? [r.reason as unknown] : []))
      for (const reason of reasons) expect(reason).toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
      const rows = await reservationsOf(wallet)
      const reservedInMarkets = rows.reduce((sum, { units }) => sum + BigInt(units), 0n)
      // The last one was rejected for one missing base unit: nothing is left over.
      expect(reservedInMarkets).toBe(10n * usdc)
      expect(rows).toHaveLength(64 - reasons.length)
      expect(await intentsOf(wallet)).toHaveLength(rows.length)
    },
  )

  test('money that arrived after the indexed block does not count yet', async () => {
    const wallet = await walletWith(0n)
    await world.mint(chain, wallet.address, usdc)
    await expect(create(wallet, usdc)).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' })
    await world.index(database.db)
    await expect(create(wallet, usdc)).resolves.toMatchObject({ status: 'planning' })
  })

  test('named chain silent: pending, without a plan or a reservation', async () => {
    const wallet = await walletWith(usdc)
    const request = lend(usdc, 'base-sepolia')
    const intent = await createIntent(oneAnswers, ownerOf(wallet), request)
    expect(intent).toMatchObject({ status: 'pending', plan: null, chain: 'base-sepolia' })
    expect(await reservationsOf(wallet)).toEqual([])
  })

  test('no named chain and some silent: planned where a responding chain has enough', async () => {
    const wallet = await walletWith(usdc)
    const request = lend(usdc)
    expect(await createIntent(oneAnswers, ownerOf(wallet), request)).toMatchObject({
      ...{ status: 'planning', chain: null, plan: { targetChain: chain } },
    })
  })

  test('no named chain and some silent: pending when a silent one may have the money', async () => {
    const wallet = await walletWith(usdc)
    const intent = await createIntent(oneAnswers, ownerOf(wallet), lend(2n * usdc))
    expect(intent).toMatchObject({ status: 'pending', plan: null })
  })

  test('an indexed block that the node no longer has: pending', async () => {
    const wallet = await walletWith(usdc)
    await database
      .db('chain')
      .where({ name: chain })
      .update({ indexed_hash: `0x${'ab'.repeat(32)}` })
    expect(await create(wallet, usdc)).toMatchObject({ status: 'pending' })
  })

  test('a block that a reorg removed after its balance was read: pending', async () => {
    const wallet = await walletWith(usdc)
    await database.db('block_header').delete()
    expect(await create(wallet, usdc)).toMatchObject({ status: 'pending' })
  })

  test('a chain that was never indexed: pending', async () => {
    const wallet = await walletWith(usdc)
    await database.db('block_header').delete()
    await database.db('chain').where({ name: chain }).delete()
    expect(await create(wallet, usdc)).toMatchObject({ status: 'pending' })
  })

  test('balances are read at the indexed block, however far the chain is', async () => {
    const wallet = await walletWith(usdc)
    await mine(world.urls[chain], 5)
    expect(await create(wallet, usdc)).toMatchObject({ status: 'planning' })
  })
})

describe('storeIntent: a route over the bridge', () => {
  const [from, to] = [chain, 'base-sepolia']
  const bridgeTo = { action: 'bridge', asset: 'USDC', fromChain: from, toChain: to } as const
  const request = { ...bridgeTo, amountUnits: usdc }
  const fees = () => database.db('bridge_fee').where({ from_chain: from, to_chain: to })

  test('is planned with the last reported fees, while they are recent', async () => {
    const wallet = await walletWith(usdc)
    await fees().update({ fast_millionths: 250, read_at: new Date(Date.now() - 3_000_000) })
    const intent = await createIntent(tools, ownerOf(wallet), request)
    expect(intent.plan?.steps).toMatchObject([
      { type: 'bridge', speed: 'fast', arrives: '0.99975' },
    ])
    await fees().update({ fast_millionths: 100, read_at: new Date() })
  })

  test('without reported fees: pending, and planned once they are known', async () => {
    const wallet = await walletWith(usdc)
    const [known] = await fees().select<object[]>()
    await fees().delete()
    const requests = [request, lend(usdc, to)]
    for (const one of requests) {
      const intent = await createIntent(tools, ownerOf(wallet), one)
      expect(intent).toMatchObject({ status: 'pending', plan: null })
      const input = { request: one, market: await readMarket(tools, wallet.address, one) }
      await expect(previewPlan(tools, ownerOf(wallet), input)).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringContaining('the bridge'),
      })
    }
    // A plan without a bridge needs no fees.
    const near = await createIntent(tools, ownerOf(wallet), lend(usdc, chain))
    expect(near).toMatchObject({ status: 'planning' })
    const late = await createIntent(tools, ownerOf(await walletWith(usdc)), request)
    const plan = () => planPending({ ...tools, db: database.db }, late.id)
    await expect(plan()).rejects.toMatchObject({ code: 'RPC_ERROR' })
    await database.db('bridge_fee').insert(known ?? {})
    expect(await plan()).toMatchObject({ steps: [{ type: 'bridge', from, to }] })
  })

  test('error: no_route where the bridge reports that it offers none', async () => {
    const wallet = await walletWith(usdc)
    const [known] = await fees().select<object[]>()
    await fees().update({ fast_millionths: null, standard_millionths: null })
    await expect(createIntent(tools, ownerOf(wallet), request)).rejects.toMatchObject({
      ...{ code: 'INVALID_REQUEST', details: expect.objectContaining({ reason: 'no_route' }) },
    })
    await fees().update(known ?? {})
  })
})

describe('planPending', () => {
  const worker = async <T>(action: (tools: PlanningTools) => Promise<T>): Promise<T> => {
    const db = connect(database.urlAs('steward_worker'), 10)
    return action({ ...tools, db }).finally(() => db.destroy())
  }

  test('plans an intent that was stored without a plan, and reserves its money', async () => {
    const wallet = await walletWith(usdc)
    const id = await insertTestIntent(database.db, wallet, 'pending', { chain })
    const plan = await worker((its) => planPending(its, id))
    expect(plan).toMatchObject({ targetChain: chain, steps: [{ amount: '1' }] })
    expect(await intentsOf(wallet)).toMatchObject([{ status: 'planning', plan }])
    expect(await reservationsOf(wallet)).toHaveLength(1)
  })

  test('concurrent calls plan it once', async () => {
    const wallet = await walletWith(5n * usdc)
    const id = await insertTestIntent(database.db, wallet, 'pending', { chain })
    const plans = await worker((its) =>
      Promise.all(Array.from({ length: 8 }, () => planPending(its, id))),
    )
    expect(new Set(plans.map((plan) => JSON.stringify(plan))).size).toBe(1)
    expect(await reservationsOf(wallet)).toHaveLength(1)
  })

  test('two pending intents never use the same money', async () => {
    const wallet = await walletWith(usdc)
    const ids = [1, 2].map(() => insertTestIntent(database.db, wallet, 'pending', { chain }))
    const results = await worker(async (its) =>
      Promise.allSettled((await Promise.all(ids)).map((id) => planPending(its, id))),
    )
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await reservationsOf(wallet)).toHaveLength(1)
  })

  test('error: RPC_ERROR while the chain is silent, and nothing changes', async () => {
    const wallet = await walletWith(usdc)
    const id = await insertTestIntent(database.db, wallet, 'pending', { chain })
    const planned = planPending({ ...tools, ...silent, db: database.db }, id)
    await expect(planned).rejects.toMatchObject({ code: 'RPC_ERROR' })
    expect(await intentsOf(wallet)).toMatchObject([{ status: 'pending', plan: null }])
  })

  test('error: CANCELLED for an ended intent, also while the chains are silent', async () => {
    const wallet = await walletWith(usdc)
    const id = await insertTestIntent(database.db, wallet, 'failed', { chain, plan: null })
    const planned = planPending({ ...tools, ...silent, db: database.db }, id)
    await expect(planned).rejects.toMatchObject({ code: 'CANCELLED' })
    expect(await reservationsOf(wallet)).toEqual([])
  })
})

describe('a reservation of another intent', () => {
  test('is the reason of the rejection until the block that spends it is indexed', async () => {
    const wallet = await walletWith(usdc)
    const other = await insertTestIntent(database.db, wallet, 'executing')
    const token = world.registry.get(chain).usdc.address
    await insertReservation(database.db, {
      ...{
        intentId: other,
        sequence: 1,
        walletId: wallet.id,
        chainId: 421_614,
        token,
        units: usdc,
      },
    })
    await expect(create(wallet, usdc)).rejects.toMatchObject({ details: { available: '0' } })
    await database.db('reservation').where({ intent_id: other }).update({ released_at: new Date() })
    await expect(create(wallet, usdc)).resolves.toMatchObject({ status: 'planning' })
  })
})
