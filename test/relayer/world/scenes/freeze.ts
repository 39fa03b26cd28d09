import { Interface } from 'ethers'
import { owner, type World } from '../fixture.js'

const aave = new Interface([
  'function ADDRESSES_PROVIDER() view returns (address)',
  'function getPoolConfigurator() view returns (address)',
  'function setReserveFreeze(address asset, bool freeze)',
  'function setReservePause(address asset, bool paused)',
  'function setSupplyCap(address asset, uint256 newSupplyCap)',
])

/** Opens or closes the market for deposits, in a block of its own. */
export const setFrozen = (world: World, frozen: boolean) =>
  configure(world, 'setReserveFreeze', frozen)

/** Opens or closes the market for withdrawals, in a block of its own. */
export const setPaused = (world: World, paused: boolean) =>
  configure(world, 'setReservePause', paused)

/** Changes the configuration of the USDC reserve, in a block of its own. */
export async function configure(
  world: World,
  name: string,
  value: boolean | bigint,
): Promise<void> {
  const provider = await read(world, world.contracts.aavePool, 'ADDRESSES_PROVIDER')
  const to = await read(world, provider, 'getPoolConfigurator')
  const data = aave.encodeFunctionData(name, [world.chain.usdc.address, value])
  await world.rpc('eth_sendTransaction', [{ from: owner, to, data }])
  await world.mine()
}

async function read({ rpc }: World, to: string, method: string): Promise<string> {
  const data = aave.encodeFunctionData(method)
  const answer = await rpc<string>('eth_call', [{ to, data }, 'latest'])
  return aave.decodeFunctionResult(method, answer)[0] as string
}
