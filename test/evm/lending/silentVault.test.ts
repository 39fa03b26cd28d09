import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface } from 'ethers'
import { type ChainClient } from '../../../evm/connect.js'
import { readBalance, readContract } from '../../../evm/read.js'
import { type Market } from '../../../evm/registry.js'
import { readOwnArtifacts } from '../../../dev/devnet/contracts/artifacts.js'
import { erc4626 } from '../../../evm/lending/erc4626.js'
import { deployAs, refusalOf, sendAll, sendFrom, users } from '../../dev/devnet/send.js'
import { startChains, type TestChains } from '../../planning/chains.js'

const [wallet, stranger] = users
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const dollar = 1_000_000n
const units = 10_000n * dollar

const vault = new Interface([
  'function setCap(uint256 units)',
  'function totalAssets() view returns (uint256)',
  'function maxDeposit(address) view returns (uint256)',
  'function maxWithdraw(address) view returns (uint256)',
])
const pool = new Interface([
  `function borrow(address asset, uint256 amount, uint256 rateMode, uint16 referralCode,
    address onBehalfOf)`,
])

let world: TestChains
let client: ChainClient
let market: Market
beforeAll(async () => {
  world = await startChains(['base-sepolia'])
  client = world.chains.byId(world.registry.get('base-sepolia').chainId)
  const listed = client.chain.markets.find(({ protocol }) => protocol === 'erc4626')
  if (!listed?.lendsTo) throw new Error('There is no vault.')
  const { DevSilentVault } = await readOwnArtifacts()
  const { pool: lender, aToken } = listed.lendsTo
  const args = [listed.underlying, lender, aToken]
  const address = await deployAs(client, owner, { artifact: DevSilentVault, args })
  market = { ...listed, address, receiptToken: address }
  await world.mint('base-sepolia', wallet, units)
})
afterAll(() => world?.stop())

const capacity = () => erc4626.readCapacity(client, market)
const liquidity = (by: string = wallet) =>
  erc4626.readLiquidity(client, market, { wallet: by, block: 'latest' })
const read = async (name: string, ...args: unknown[]) =>
  (await readContract(client, { to: market.address, abi: vault, name, args }))[0] as bigint
const setCap = (cap: bigint) =>
  sendFrom(client, owner, { to: market.address, data: vault.encodeFunctionData('setCap', [cap]) })
const withdrawal = (part: bigint) => {
  const [call] = erc4626.encodeWithdraw(market, wallet, { units: part })
  if (!call) throw new Error('A withdrawal is one call.')
  return call
}

describe('a vault that reports zero limits', () => {
  test('accepts deposits up to the largest simulated one', async () => {
    expect(await read('maxDeposit', wallet)).toBe(0n)
    expect(await capacity()).toBe(10_000_000n * dollar)
    await sendAll(client, wallet, erc4626.encodeDeposit(market, wallet, units))
    await setCap((await read('totalAssets')) + 5_000n * dollar)
    expect(await capacity()).toBe(1_000n * dollar)
  })

  test('is closed when every simulated deposit fails', async () => {
    await setCap(0n)
    expect(await capacity()).toBe(0n)
    await setCap(2n ** 200n)
  })

  test('pays out what a simulated withdrawal returns', async () => {
    expect(await read('maxWithdraw', wallet)).toBe(0n)
    const position = await erc4626.readPosition(client, market, { wallet, block: 'latest' })
    expect(position).toBeGreaterThanOrEqual(units - 1n)
    expect(await liquidity()).toBe(position)
    expect(await liquidity(stranger)).toBe(0n)
  })

  test('pays out a part when most is borrowed, and that withdrawal succeeds', async () => {
    const { underlying, lendsTo } = market
    const cash = await readBalance(client, { token: underlying, owner: lendsTo?.aToken ?? '' })
    const args = [underlying, cash - 3_000n * dollar, 2, 0, owner]
    const data = pool.encodeFunctionData('borrow', args)
    await sendFrom(client, owner, { to: lendsTo?.pool ?? '', data })
    const part = await liquidity()
    expect(part).toBeGreaterThan(0n)
    expect(part).toBeLessThan(4_000n * dollar)
    expect(await refusalOf(client, wallet, withdrawal(2n * part))).not.toBe('It was taken.')
    await sendFrom(client, wallet, withdrawal(part))
    expect(await readBalance(client, { token: underlying, owner: wallet })).toBe(part)
  })
})
