import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Wallet, toBeHex, toQuantity } from 'ethers'
import { connectChains } from '../../evm/connect.js'
import { ARB_GAS_INFO_ADDRESS, GAS_PRICE_ORACLE_ADDRESS } from '../../evm/l1Costs.js'
import { devnetTerms } from '../../dev/devnet/chains.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { readMarket, type MarketSnapshot } from '../../planning/market.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { startFaultProxy, type FaultProxy } from '../support/faultProxy.js'
import { startChains, type TestChains } from './chains.js'

const GWEI = 1_000_000_000n
const names = ['arbitrum-sepolia', 'base-sepolia'] as const
type Name = (typeof names)[number]
const priceAt = {
  'arbitrum-sepolia': ARB_GAS_INFO_ADDRESS,
  'base-sepolia': GAS_PRICE_ORACLE_ADDRESS,
}

let database: TestDatabase
let world: TestChains
beforeAll(async () => {
  ;[database, world] = await Promise.all([createDatabase(), startChains(names)])
})
afterAll(() => Promise.all([database?.drop(), world?.stop()]))

/** Sets the price of L1 data, with the usual gas price. */
async function price(name: Name, l1Wei: bigint): Promise<void> {
  const url = world.urls[name]
  const slot = [toBeHex(0, 32), toBeHex(l1Wei, 32)]
  await callRpc(url, 'anvil_setStorageAt', [priceAt[name], ...slot])
  const baseFee = toQuantity(devnetTerms[name].baseFeeWei)
  await callRpc(url, 'anvil_setNextBlockBaseFeePerGas', [baseFee])
  await callRpc(url, 'evm_mine')
}

/** The costs that a new process would plan with. `seen` counts its requests to a chain. */
async function readCosts(name: Name, seen?: Map<string, number>) {
  await world.index(database.db)
  const schemes: FaultProxy[] = []
  const scheme = async (url: string) => {
    const proxy = await startFaultProxy(url)
    proxy.set(({ method }) => void seen?.set(method, (seen.get(method) ?? 0) + 1))
    schemes.push(proxy)
    return proxy.url
  }
  const urls = { ...world.urls, [name]: await scheme(world.urls[name]) }
  const chains = connectChains(world.registry, urls)
  const request = { action: 'lend', asset: 'USDC', amountUnits: 1n } as const
  const tools = { db: database.db, chains }
  const market = await readMarket(tools, Wallet.createRandom().address, request)
  for (const client of chains.list) client.close()
  for (const proxy of schemes) await proxy.stop()
  return gasOf(market, name)
}

const gasOf = ({ snapshots }: MarketSnapshot, name: Name) => {
  const found = snapshots.find(({ client }) => client.chain.name === name)
  if (!found?.gasUsd) throw new Error(`${name} did not answer.`)
  return found.gasUsd
}

describe('readMarket', () => {
  test.each([
    // Wei per byte: 16 units at 0.02 gwei; 1 gwei and a sixteenth by the scalars of Base.
    ['arbitrum-sepolia', GWEI / 50n, 0.32],
    ['base-sepolia', GWEI, 0.102],
  ] as const)('%s: costs include the L1 data fee', async (name, wei, gweiPerByte) => {
    await price(name, wei)
    const usual = await readCosts(name)
    await price(name, 11n * wei)
    const dear = await readCosts(name)
    for (const kind of ['deposit', 'withdraw', 'swap', 'burn', 'mint'] as const) {
      // Ten times the usual share, USD at 3,000 per ETH.
      const bytes = (dear[kind] - usual[kind]) / (10 * gweiPerByte * 1e-9 * 3_000)
      expect(bytes).toBeGreaterThan(300)
      expect(bytes).toBeLessThan(900)
    }
  })

  test.each(names)('%s: a lend costs cents', async (name) => {
    await price(name, 0n)
    const { deposit } = await readCosts(name)
    expect(deposit).toBeGreaterThan(0.001)
    expect(deposit).toBeLessThan(0.1)
  })

  test.each(names)('%s: reads prices together with the other data', async (name) => {
    const seen = new Map<string, number>()
    await readCosts(name, seen)
    // All at the indexed block.
    expect(seen.get('eth_call')).toBe(1)
    expect(seen.get('eth_getBlockByNumber')).toBeUndefined()
    expect(seen.get('eth_maxPriorityFeePerGas') ?? 0).toBeLessThanOrEqual(1)
  })
})
