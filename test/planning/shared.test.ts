import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Wallet, toBeHex, toQuantity } from 'ethers'
import { ARB_GAS_INFO_ADDRESS } from '../../evm/l1Costs.js'
import { chainNames, type ChainName } from '../../evm/registry.js'
import { connect, type Db } from '../../db/client/connect.js'
import { devnetTerms } from '../../dev/devnet/chains.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { planOnceIndexed } from '../../planning/waitForIndex.js'
import { readMarket, type MarketSnapshot } from '../../planning/market.js'
import { planWithReservations, type PlanInput } from '../../planning/plan.js'
import { insertTestWallet } from '../db/rows.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { startChains, type TestChains } from './chains.js'
import { listenTo, type AskedChains } from './questions.js'
import type { IntentRequest } from '../../domain/intent/intent.js'

const arbitrum = 'arbitrum-sepolia'
const usdc = 1_000_000n
const lend = { action: 'lend', asset: 'USDC', amountUnits: usdc } as const

let database: TestDatabase
let world: TestChains
let db: Db
let asked: AskedChains

beforeAll(async () => {
  ;[database, world] = await Promise.all([createDatabase(), startChains()])
  db = connect(database.urlAs('steward_api'), 10)
})
beforeEach(async () => {
  await world.index(database.db)
  asked = await listenTo(world)
})
afterEach(() => asked.stop())
afterAll(async () => {
  await db?.destroy()
  await Promise.all([database?.drop(), world?.stop()])
})

const newWallet = () => Wallet.createRandom().address
const read = (wallet: string) => readMarket({ db, chains: asked.chains }, wallet, lend)

const snapshotOf = ({ snapshots }: MarketSnapshot, name: ChainName) => {
  const found = snapshots.find(({ client }) => client.chain.name === name)
  if (!found) throw new Error(`${name} did not answer.`)
  return found
}
const isAboutPool = ({ to }: { to: string }) =>
  to.toLowerCase() === world.registry.get(arbitrum).markets[0]?.address.toLowerCase()
const isAbout = (wallet: string) => (question: { data: string }) =>
  question.data.toLowerCase().includes(wallet.slice(2).toLowerCase())

/** Sets the L1 data price in a new block that is not indexed yet. */
async function priceData(wei: bigint): Promise<void> {
  const url = world.urls[arbitrum]
  const slot = [toBeHex(0, 32), toBeHex(wei, 32)]
  await callRpc(url, 'anvil_setStorageAt', [ARB_GAS_INFO_ADDRESS, ...slot])
  await priceGas(devnetTerms[arbitrum].baseFeeWei)
}
/** Sets the gas price in a new block that is not indexed yet. */
async function priceGas(wei: bigint): Promise<void> {
  const url = world.urls[arbitrum]
  await callRpc(url, 'anvil_setNextBlockBaseFeePerGas', [toQuantity(wei)])
  await callRpc(url, 'evm_mine')
}
const costOf = async () => snapshotOf(await read(newWallet()), arbitrum).gasUsd?.deposit ?? NaN

describe('readMarket', () => {
  test.each(chainNames)('%s: reads everything at one block', async (name) => {
    const { snapshots } = await read(newWallet())
    expect(snapshots).toHaveLength(chainNames.length)
    const at = asked.calls(name, 'eth_call').map(({ params: [, block] }) => block)
    const blockHash = snapshots.find(({ client }) => client.chain.name === name)?.indexed.hash
    expect(new Set(at)).toEqual(new Set([{ blockHash, requireCanonical: true }]))
  })

  test('reads everything again at a new block, and nothing of it before it is indexed', async () => {
    await priceData(1_000_000_000n)
    await world.index(database.db)
    const usual = await costOf()
    await priceData(10_000_000_000n)
    asked.forget()
    expect(await costOf()).toBe(usual)
    expect(asked.questions().some(isAboutPool)).toBe(false)
    await world.index(database.db)
    asked.forget()
    expect(await costOf()).toBeGreaterThan(2 * usual)
    expect(asked.questions().some(isAboutPool)).toBe(true)
  })

  test('uses the gas price of the indexed block or, where unknown, of the head', async () => {
    await priceData(1n)
    await world.index(database.db)
    const usual = await costOf()
    await priceGas(100n * devnetTerms[arbitrum].baseFeeWei)
    expect(await costOf()).toBe(usual)
    await world.index(database.db)
    const high = await costOf()
    expect(high).toBeGreaterThan(20 * usual)
    await database.db('chain').update({ base_fee_wei: null })
    expect(await costOf()).toBe(high)
  })

  test('shares nothing between a block and its replacement', async () => {
    const url = world.urls[arbitrum]
    const before = await callRpc(url, 'evm_snapshot')
    await priceData(1_000_000_000n)
    await world.index(database.db)
    const orphan = snapshotOf(await read(newWallet()), arbitrum)
    await callRpc(url, 'evm_revert', [before])
    await priceData(10_000_000_000n)
    await world.index(database.db)
    const replaced = snapshotOf(await read(newWallet()), arbitrum)
    expect(replaced.indexed.number).toBe(orphan.indexed.number)
    expect(replaced.indexed.hash).not.toBe(orphan.indexed.hash)
    expect(replaced.gasUsd?.deposit).toBeGreaterThan(2 * (orphan.gasUsd?.deposit ?? NaN))
  })

  test('reads rates and prices at the head while indexing is delayed', async () => {
    await database.db('chain').update({
      indexed_at: database.db.raw("clock_timestamp() - interval '2 minutes'"),
    })
    const wallet = newWallet()
    const { indexed } = snapshotOf(await read(wallet), arbitrum)
    for (const question of asked.questions().filter(({ chain }) => chain === arbitrum)) {
      const own = { blockHash: indexed.hash, requireCanonical: true }
      expect(question.block).toEqual(isAbout(wallet)(question) ? own : 'latest')
    }
  })

  test('reads failed data again at the same block', async () => {
    asked.fail(arbitrum, ({ method }) => (method === 'eth_call' ? 'http500' : undefined))
    expect((await read(newWallet())).silent).toEqual([arbitrum])
    asked.fail(arbitrum, undefined)
    const { silent, snapshots } = await read(newWallet())
    expect(silent).toEqual([])
    expect(snapshots).toHaveLength(chainNames.length)
  })
})

describe('planOnceIndexed', () => {
  const base = 'base-sepolia'
  const amount = { asset: 'USDC', amountUnits: usdc } as const
  const withdraw = { action: 'withdraw', ...amount, chain: arbitrum } as const
  const bridge = { action: 'bridge', ...amount, fromChain: arbitrum, toChain: base } as const
  const plan = async (request: IntentRequest, attempt: (input: PlanInput) => Promise<unknown>) => {
    const owner = await insertTestWallet(database.db, newWallet())
    const spender = { accountId: owner.accountId, walletId: owner.id, address: owner.address }
    return planOnceIndexed({ db, chains: asked.chains }, spender, { request, attempt })
  }

  test.each([
    { request: withdraw, needed: [arbitrum] },
    { request: bridge, needed: [arbitrum, base] },
    { request: lend, needed: chainNames },
  ])('$request.action: reads only the chains that it may use', async ({ request, needed }) => {
    const responding = ({ market }: PlanInput) =>
      market.snapshots.map(({ client }) => client.chain.name)
    const names = await plan(request, (input) => Promise.resolve(responding(input)))
    expect(new Set(names as string[])).toEqual(new Set(needed))
  })

  test('error: INSUFFICIENT_FUNDS of a bridge lists the balances on all chains', async () => {
    const refused = plan(bridge, async (input) =>
      planWithReservations(db, (await insertTestWallet(database.db, newWallet())).id, input),
    )
    await expect(refused).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      details: { funds: chainNames.map(() => expect.objectContaining({ amount: '0' }) as object) },
    })
  })
})

describe('wallets that plan concurrently', () => {
  const COUNT = 10

  test('each get their own balance', async () => {
    const wallets = Array.from({ length: COUNT }, newWallet)
    const rich = wallets.slice(0, 4)
    for (const [i, wallet] of rich.entries())
      await world.mint(arbitrum, wallet, BigInt(i + 1) * usdc)
    await world.index(database.db)
    const markets = await Promise.all(wallets.map(read))
    const balances = markets.map((market) => snapshotOf(market, arbitrum).balanceUnits)
    expect(balances).toEqual(wallets.map((_, i) => (i < rich.length ? BigInt(i + 1) * usdc : 0n)))
  })
})
