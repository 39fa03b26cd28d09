import { Interface, keccak256, AbiCoder, toBeHex } from 'ethers'
import { lendingProtocol } from '../../../evm/lending/markets.js'
import { configure } from './scenes/freeze.js'
import { usdcUnits, type World } from './fixture.js'
import type { Market } from '../../../evm/registry.js'

/** Storage slot of balances in Circle's USDC. */
const BALANCES_SLOT = 9
const supply = new Interface(['function totalSupply() view returns (uint256)'])

/** The Aave market of the chain. */
export function poolOf({ chain }: World): Market {
  const market = chain.markets.find(({ protocol }) => protocol === 'aave-v3')
  if (!market) throw new Error('There is no Aave.')
  return market
}

/** Base units that the pool accepts now. */
const capacityOf = (world: World) =>
  lendingProtocol(poolOf(world)).readCapacity(world.driver().client, poolOf(world))

/** Sets the capacity below the cap to about this many whole tokens; returns the exact capacity in base units. */
export async function leaveCapacity(world: World, tokens: bigint): Promise<bigint> {
  const call = { to: world.contracts.aToken, data: supply.encodeFunctionData('totalSupply') }
  const supplied = BigInt(await world.rpc<string>('eth_call', [call, 'latest']))
  await configure(world, 'setSupplyCap', supplied / usdcUnits + 1n + tokens)
  await world.index()
  return capacityOf(world)
}

/** Sets the USDC balance of the pool in base units, independent of its debts. */
export async function setCash(world: World, units: bigint): Promise<void> {
  const key = AbiCoder.defaultAbiCoder().encode(
    ['address', 'uint256'],
    [world.contracts.aToken, BALANCES_SLOT],
  )
  const value = toBeHex(units, 32)
  await world.rpc('anvil_setStorageAt', [world.chain.usdc.address, keccak256(key), value])
  await world.mine()
  await world.index()
}
