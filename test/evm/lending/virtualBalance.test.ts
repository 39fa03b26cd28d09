import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Interface, dataSlice } from 'ethers'
import { type ChainClient } from '../../../evm/connect.js'
import { readBalance, readContract } from '../../../evm/read.js'
import { type Market } from '../../../evm/registry.js'
import { readOwnArtifacts } from '../../../dev/devnet/contracts/artifacts.js'
import { aaveV3 } from '../../../evm/lending/aaveV3.js'
import { explainRevert } from '../../../evm/calls/reverts.js'
import { deployAs, refusalOf, sendFrom } from '../../dev/devnet/send.js'
import { startChains, type TestChains } from '../../planning/chains.js'

/** The account that deployed everything, lends more than is left in the pool, and may replace the pool's code. */
const owner = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** @see https://eips.ethereum.org/EIPS/eip-1967 */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const gift = 50_000_000_000n

const token = new Interface(['function mint(address to, uint256 amount)'])
const addresses = new Interface([
  'function ADDRESSES_PROVIDER() view returns (address)',
  'function setPoolImpl(address implementation)',
])

let world: TestChains
let client: ChainClient
let market: Market
beforeAll(async () => {
  world = await startChains(['arbitrum-sepolia'])
  client = world.chains.byId(world.registry.get('arbitrum-sepolia').chainId)
  market = client.chain.markets[0] as Market
})
afterAll(() => world?.stop())

const liquidity = () => aaveV3.readLiquidity(client, market, { wallet: owner, block: 'latest' })
const held = () => readBalance(client, { token: market.underlying, owner: market.receiptToken })
const withdrawal = (units: bigint) => {
  const [call] = aaveV3.encodeWithdraw(market, owner, { units })
  if (!call) throw new Error('A withdrawal is one call.')
  return call
}

/** Upgrades the pool to 3.1. */
async function upgrade(): Promise<void> {
  const place = [market.address, IMPLEMENTATION_SLOT, 'latest']
  const implementation = dataSlice(await client.send<string>('eth_getStorageAt', place), 12)
  const { DevVirtualPool } = await readOwnArtifacts()
  const args = [implementation, market.underlying, market.receiptToken]
  const name = 'ADDRESSES_PROVIDER'
  const [to] = await readContract(client, { to: market.address, abi: addresses, name })
  const code = await deployAs(client, owner, { artifact: DevVirtualPool, args })
  const data = addresses.encodeFunctionData('setPoolImpl', [code])
  await sendFrom(client, owner, { to: to as string, data })
}

describe('the liquidity of Aave', () => {
  test('before 3.1 is the balance of the aToken', async () => {
    expect(await liquidity()).toBe(await held())
  })

  test("from 3.1 on is the pool's internal balance, without transfers to the aToken", async () => {
    await upgrade()
    const counted = await held()
    expect(await liquidity()).toBe(counted)
    const data = token.encodeFunctionData('mint', [market.receiptToken, gift])
    await sendFrom(client, owner, { to: market.underlying, data })
    expect(await held()).toBe(counted + gift)
    expect(await liquidity()).toBe(counted)
  })

  test('from 3.1 on can be withdrawn to the last unit', async () => {
    const most = await liquidity()
    const refused = await refusalOf(client, owner, withdrawal(most + 1n))
    expect(explainRevert(refused)).toContain('Panic')
    await sendFrom(client, owner, withdrawal(most))
    expect(await liquidity()).toBe(0n)
    expect(await held()).toBe(gift)
  })
})
