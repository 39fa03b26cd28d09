import { Interface, MaxUint256 } from 'ethers'
import { poolAddress } from '../../../evm/swaps/uniswapV3.js'
import { owner, usdcUnits, type World } from './fixture.js'

const million = 1_000_000n * usdcUnits
const NEVER = 2n ** 40n
/** Ticks with liquidity on both sides of the new price. */
const WIDTH = 100

const token = new Interface([
  'function mint(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
])
const router = new Interface([
  'function positionManager() view returns (address)',
  `function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient,
    uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)`,
])
const positions = new Interface([
  `function mint(tuple(address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper,
    uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min,
    address recipient, uint256 deadline) params)`,
])
const pool = new Interface(['function increaseObservationCardinalityNext(uint16 next)'])

/** Sends from the devnet's owner, without mining. */
const sendAsOwner = (world: World, to: string, data: string) =>
  world.rpc('eth_sendTransaction', [{ from: owner, to, data, gas: '0xf4240' }])

export const mintDollars = (world: World, contract: string, to: string, units: bigint) =>
  sendAsOwner(world, contract, token.encodeFunctionData('mint', [to, units]))

/** Moves the pool to a price of one `from` in `to`, with deep liquidity. */
export async function setPoolPrice(
  world: World,
  [from, to]: [from: string, to: string],
  price: number,
): Promise<void> {
  const contract = world.chain.uniswap?.router ?? ''
  const isFirst = BigInt(from) < BigInt(to)
  const [token0, token1] = isFirst ? [from, to] : [to, from]
  const limit = BigInt(Math.floor(Math.sqrt(isFirst ? price : 1 / price) * 2 ** 96))
  const data = router.encodeFunctionData('positionManager')
  const answer = await world.rpc<string>('eth_call', [{ to: contract, data }, 'latest'])
  const [manager] = router.decodeFunctionResult('positionManager', answer) as unknown as [string]
  for (const asset of [from, to]) {
    await mintDollars(world, asset, owner, 60n * million)
    for (const spender of [contract, manager]) {
      const approval = token.encodeFunctionData('approve', [spender, MaxUint256])
      await sendAsOwner(world, asset, approval)
    }
  }
  const order = [from, to, 100, owner, 50n * million, 0n, limit]
  await sendAsOwner(world, contract, router.encodeFunctionData('exactInputSingle', [order]))
  const tick = Math.round(Math.log(isFirst ? price : 1 / price) / Math.log(1.0001))
  const range = [tick - WIDTH, tick + WIDTH]
  const supply = [token0, token1, 100, ...range, million, million, 0n, 0n, owner, NEVER]
  await sendAsOwner(world, manager, positions.encodeFunctionData('mint', [supply]))
  await world.mine()
  await world.index()
}

/** Grows the pool's observations, as on public networks, and advances time by half an hour. */
export async function keepPrices(world: World, tokens: [string, string]): Promise<void> {
  const address = poolAddress(world.chain.uniswap?.factory ?? '', tokens, 100)
  await sendAsOwner(
    world,
    address,
    pool.encodeFunctionData('increaseObservationCardinalityNext', [9]),
  )
  await world.mine()
  await world.rpc('evm_increaseTime', [1_800])
  await world.mine()
  await world.index()
}
