import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Interface, Wallet } from 'ethers'
import { readRates } from '../../evm/lending/markets.js'
import { devnetOwner } from '../../dev/devnet/deploy.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { readMarket } from '../../planning/market.js'
import { planWithReservations } from '../../planning/plan.js'
import { insertTestWallet, type TestWallet } from '../db/rows.js'
import { sendFrom } from '../dev/devnet/send.js'
import { createDatabase, type TestDatabase } from '../support/database.js'
import { startChains, type TestChains } from './chains.js'
import type { IntentRequest } from '../../domain/intent/intent.js'

/** Has Aave with another dollar, and a Comet with a lower rate. */
const chain = 'ethereum-sepolia'
const usdc = 1_000_000n
const comet = new Interface(['function borrowForAll(uint256 amount)'])
/** Code that reverts, code that burns all gas, and code that returns 10^30 to every question. */
const REVERTS = '0x5f5ffd'
const BURNS = '0xfe'
const ABSURD = `0x7f${(10n ** 30n).toString(16).padStart(64, '0')}5f5260205ff3`

let database: TestDatabase
let world: TestChains
let wallet: TestWallet
let clean: string

const url = () => world.urls[chain]
const client = () => world.chains.byId(world.registry.get(chain).chainId)
const marketOf = (protocol: string) => {
  const market = client().chain.markets.find((one) => one.protocol === protocol)
  if (!market) throw new Error(`There is no ${protocol}.`)
  return market
}

beforeAll(async () => {
  ;[database, world] = await Promise.all([createDatabase(), startChains([chain])])
  wallet = await insertTestWallet(database.db, Wallet.createRandom().address)
  await world.mint(chain, wallet.address, 20n * usdc)
})
beforeEach(async () => {
  clean = await callRpc(url(), 'evm_snapshot')
})
afterEach(() => callRpc(url(), 'evm_revert', [clean]))
afterAll(() => Promise.all([database?.drop(), world?.stop()]))

const amount = { asset: 'USDC', amountUnits: usdc } as const
const lend: IntentRequest = { action: 'lend', ...amount, chain }

async function plan(request: IntentRequest) {
  await world.index(database.db)
  const market = await readMarket(
    { db: database.db, chains: world.chains },
    wallet.address,
    request,
  )
  // The other chains of the deployment do not respond here.
  return planWithReservations(database.db, wallet.id, {
    request,
    market: { ...market, silent: [] },
  })
}

/** Borrows all cash of the Comet except for a part. */
async function borrowExcept(units: bigint): Promise<void> {
  const market = marketOf('compound-v3')
  const { rates } = await readRates(client())
  const cash = rates.find((rate) => rate.market === market.address)?.liquidity?.cashUnits ?? 0n
  const data = comet.encodeFunctionData('borrowForAll', [cash - units])
  await sendFrom(client(), devnetOwner, { to: market.address, data })
}

/** Replaces a contract, in a new block. */
async function replace(address: string, code: string): Promise<void> {
  await callRpc(url(), 'anvil_setCode', [address, code])
  await callRpc(url(), 'evm_mine')
}

describe('planWithReservations', () => {
  test.each([
    ['99.9 % borrowed', 1_000n * usdc, 'of its deposits are borrowed'],
    ['without cash', 0n, 'of its deposits are borrowed'],
  ])('a market %s is left, although it pays the most', async (_, cash, why) => {
    await borrowExcept(cash)
    const { targetProtocol, reasoning } = await plan(lend)
    expect(targetProtocol).toBe('aave-v3')
    expect(reasoning).toMatch(new RegExp(`compound-v3 on ${chain} pays more, .* ${why}`))
  })

  test.each([
    ['reverts', REVERTS, 'it cannot be read'],
    ['burns all gas', BURNS, 'it cannot be read'],
    ['has an absurd rate', ABSURD, 'its rate is not plausible'],
  ])('a market that %s does not hide its chain', async (_, code, why) => {
    await replace(marketOf('compound-v3').address, code)
    const { targetProtocol, reasoning } = await plan(lend)
    expect(targetProtocol).toBe('aave-v3')
    expect(reasoning).toContain(`compound-v3 on ${chain} is not offered: ${why}`)
  })

  test('a market that reverts does not hide positions in other markets', async () => {
    const market = marketOf('compound-v3')
    const supply = new Interface(['function supply(address, uint256)'])
    const approve = new Interface(['function approve(address, uint256)'])
    await callRpc(url(), 'anvil_impersonateAccount', [wallet.address])
    await callRpc(url(), 'anvil_setBalance', [wallet.address, '0xde0b6b3a7640000'])
    const approval = approve.encodeFunctionData('approve', [market.address, 5n * usdc])
    await sendFrom(client(), wallet.address, { to: market.underlying, data: approval })
    const deposit = supply.encodeFunctionData('supply', [market.underlying, 5n * usdc])
    await sendFrom(client(), wallet.address, { to: market.address, data: deposit })
    await replace(marketOf('aave-v3').receiptToken, REVERTS)

    const part = await plan({ action: 'withdraw', ...amount, chain })
    expect(part).toMatchObject({ targetProtocol: 'compound-v3' })
    const unknown = { code: 'UNAVAILABLE', message: expect.stringContaining('it cannot be read') }
    const all = { action: 'withdraw', asset: 'USDC', amountUnits: 'max', chain } as const
    await expect(plan(all)).rejects.toMatchObject(unknown)
    const more = { action: 'withdraw', asset: 'USDC', amountUnits: 6n * usdc, chain } as const
    await expect(plan(more)).rejects.toMatchObject(unknown)
  })
})
