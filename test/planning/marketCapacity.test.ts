import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Interface, Wallet } from 'ethers'
import { readContract } from '../../evm/read.js'
import { connect, type Db } from '../../db/client/connect.js'
import { scopeTransaction } from '../../db/client/scope.js'
import { waitForReceipt } from '../../dev/devnet/contracts/plan.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { planPending, storeIntent, type PlanningTools } from '../../planning/intents.js'
import { readMarket } from '../../planning/market.js'
import { lendingProtocol } from '../../evm/lending/markets.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { insertTestIntent, insertTestWallet, type TestWallet } from '../db/rows.js'
import { startChains, type TestChains } from './chains.js'
import type { Market } from '../../evm/registry.js'

const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const chain = 'base-sepolia'
const usdc = 1_000_000n
const aave = new Interface([
  'function ADDRESSES_PROVIDER() view returns (address)',
  'function getPoolConfigurator() view returns (address)',
  'function setSupplyCap(address asset, uint256 newSupplyCap)',
  'function totalSupply() view returns (uint256)',
])

let database: TestDatabase
let world: TestChains
let api: Db
let tools: PlanningTools

beforeAll(async () => {
  ;[database, world] = await Promise.all([createDatabase(), startChains([chain])])
  api = connect(database.urlAs('steward_api'), 20)
  const { chains, registry } = world
  tools = {
    db: api,
    chains: { ...chains, list: chains.list.filter((c) => c.chain.name === chain) },
    registry,
  }
})
afterEach(async () => {
  await database.db('reservation').update({ released_at: new Date() })
  await leaveCapacity(0n)
})
afterAll(async () => {
  await api.destroy()
  await Promise.all([database.drop(), world.stop()])
})

const client = () => tools.chains.list[0]!
function marketOf(protocol: Market['protocol']): Market {
  const market = client().chain.markets.find((one) => one.protocol === protocol)
  if (!market) throw new Error(`There is no ${protocol}.`)
  return market
}
const capacityOf = (protocol: Market['protocol']) =>
  lendingProtocol(marketOf(protocol)).readCapacity(client(), marketOf(protocol))

/** Leaves a capacity of this many whole tokens below the cap of Aave. */
async function leaveCapacity(tokens: bigint): Promise<bigint> {
  const { address, underlying, receiptToken } = marketOf('aave-v3')
  const ask = async (to: string, name: string) =>
    (await readContract(client(), { to, abi: aave, name }))[0] as string
  const to = await ask(await ask(address, 'ADDRESSES_PROVIDER'), 'getPoolConfigurator')
  const cap = BigInt(await ask(receiptToken, 'totalSupply')) / usdc + 1n + tokens
  const data = aave.encodeFunctionData('setSupplyCap', [underlying, tokens === 0n ? 0n : cap])
  const hash = await callRpc<string>(world.urls[chain], 'eth_sendTransaction', [
    { from: owner, to, data },
  ])
  await waitForReceipt(world.urls[chain], hash, 10_000)
  await world.index(database.db)
  return capacityOf('aave-v3')
}

async function walletWith(units: bigint): Promise<TestWallet> {
  const { address } = Wallet.createRandom()
  await world.mint(chain, address, units)
  await world.index(database.db)
  return insertTestWallet(database.db, address)
}

async function lend(wallet: TestWallet, amountUnits: bigint) {
  const request = { action: 'lend', asset: 'USDC', amountUnits, chain } as const
  const market = await readMarket(tools, wallet.address, request)
  const { id: walletId, accountId, requestId } = wallet
  return tools.db.transaction(async (trx) => {
    await scopeTransaction(trx, accountId)
    return storeIntent(
      { ...tools, db: trx },
      { walletId, accountId, requestId },
      { request, market },
    )
  })
}

describe('a market with little capacity', () => {
  test('concurrent deposits of all accounts stay within the capacity', async () => {
    const capacity = await leaveCapacity(10n)
    const units = (capacity * 45n) / 100n
    const wallets: TestWallet[] = []
    for (let i = 0; i < 12; i++) wallets.push(await walletWith(units))
    const settled = await Promise.allSettled(wallets.map((wallet) => lend(wallet, units)))
    const planned = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(planned.map(({ status }) => status)).toEqual(['planning', 'planning'])
    for (const one of settled) {
      if (one.status === 'fulfilled') continue
      expect(one.reason).toMatchObject({ code: 'INVALID_REQUEST' })
      expect((one.reason as Error).message).toContain('more')
    }
    // The vault lends to the same pool, so both share the capacity.
    expect(new Set(planned.map(({ plan }) => plan?.targetProtocol)).size).toBe(1)

    const wallet = wallets[settled.findIndex(({ status }) => status === 'rejected')] as TestWallet
    await expect(lend(wallet, units)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await database
      .db('reservation')
      .where({ intent_id: planned[0]?.id })
      .update({ released_at: new Date() })
    await expect(lend(wallet, units)).resolves.toMatchObject({ status: 'planning' })
  })

  test('a small deposit is rejected while deposits of other accounts fill the market', async () => {
    // Interest takes a little of the capacity each second, far less than the thousandths left here.
    const capacity = await leaveCapacity(1_000n)
    const almostHalf = (capacity * 499n) / 1_000n
    for (let i = 0; i < 2; i++) await lend(await walletWith(almostHalf), almostHalf)
    // So small that its plan does not lock the capacity and read it again.
    const units = capacity / 200n
    await expect(lend(await walletWith(units), units)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    })
  })

  test('a deposit planned by its workflow counts too', async () => {
    const capacity = await leaveCapacity(10n)
    const units = (capacity * 6n) / 10n
    await lend(await walletWith(units), units)
    const wallet = await walletWith(units)
    const id = await insertTestIntent(database.db, wallet, 'pending', {
      chain,
      units: units.toString(),
    })
    const worker = connect(database.urlAs('steward_worker'), 2)
    const planned = planPending({ ...tools, db: worker }, id).finally(() => worker.destroy())
    await expect(planned).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })

  test('a market without a bound accepts any amount', async () => {
    expect(await capacityOf('aave-v3')).toBeGreaterThan(2n ** 128n)
  })

  test('RESERVED_IN_MARKETS returns one sum, without its owners', async () => {
    const rows = await api('reservation').select('intent_id')
    expect(rows).toEqual([])
    const { rows: sums } = await api.raw<{ rows: object[] }>(
      `select market_reserved(1, '{}', '') as units`,
    )
    expect(sums).toEqual([{ units: '0' }])
  })
})
