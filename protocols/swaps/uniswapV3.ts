import { AbiCoder, Interface, getCreate2Address, keccak256 } from 'ethers'
import { disabledBecause, isRevert, type ChainClient } from '../../chains/connect.js'
import { readContract, type BlockRef, type Log } from '../../chains/read.js'
import { findPool, tokensOf, type Chain, type Token } from '../../chains/registry.js'
import { shareAtBlock } from '../../chains/shareAtBlock.js'
import { encodeApprove } from '../approve.js'
import type { Call } from '../../domain/operation.js'

export const SWAP_PROTOCOL = 'uniswap-v3'

/** Over so many seconds a pool's average price is taken: longer than anybody can afford to hold it elsewhere. */
const AVERAGE_SECONDS = 600

/** @see https://github.com/Uniswap/v3-periphery/blob/main/contracts/libraries/PoolAddress.sol */
const POOL_CODE_HASH = '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'

/** @see https://docs.uniswap.org/contracts/v3/reference/periphery/interfaces/IQuoterV2 */
const quoter = new Interface([
  `function quoteExactInputSingle(tuple(address tokenIn, address tokenOut, uint256 amountIn,
    uint24 fee, uint160 sqrtPriceLimitX96) params) returns (uint256 amountOut,
    uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)`,
])
/** @see https://docs.uniswap.org/contracts/v3/reference/core/interfaces/pool/IUniswapV3PoolDerivedState */
const oracle = new Interface([
  `function observe(uint32[] secondsAgos) view returns (int56[] tickCumulatives,
    uint160[] secondsPerLiquidityCumulativeX128s)`,
])
/** SwapRouter02: no deadline in its parameters. */
const router = new Interface([
  `function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient,
    uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)
    returns (uint256 amountOut)`,
])
const erc20 = new Interface([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** What is swapped for what, in base units. */
export type Swap = { from: Token; to: Token; unitsIn: bigint }
/**
 * What the pair's pool would give, and its tier in millionths. `averageUnitsOut`: at its average price of the last
 * ten minutes and without its fee; absent where the pool cannot tell, because it is new, or keeps too few
 * observations and was traded in since.
 */
export type Quote = { unitsOut: bigint; fee: number; averageUnitsOut?: bigint }

/**
 * The quote of a swap at a block, from the one pool that the registry lists for the pair; undefined when that
 * cannot give one, or swaps are disabled.
 */
export async function readQuote(
  client: ChainClient,
  swap: Swap,
  block: BlockRef = 'latest',
): Promise<Quote | undefined> {
  const { uniswap } = client.chain
  const pool = findPool(client.chain, swap.from, swap.to)
  if (!uniswap || !pool || disabledBecause(client, 'swaps')) return undefined
  const { factory, quoter: to } = uniswap
  const address = poolAddress(factory, [swap.from.address, swap.to.address], pool.fee)
  const average = readAverage(client, swap, { address, block })
  // Where there is no pool there is nobody to ask either.
  average.catch(() => undefined)
  const unitsOut = await readPoolQuote(client, { ...swap, quoter: to, fee: pool.fee, block })
  if (unitsOut === 0n) return undefined
  const averageUnitsOut = await average
  const known = averageUnitsOut === undefined ? {} : { averageUnitsOut }
  return { unitsOut, fee: pool.fee, ...known }
}

/** What was worked out once: there are as many as the registry lists pairs. */
const poolAddresses = new Map<string, string>()

/** Where a factory puts the pool of two tokens. */
export function poolAddress(factory: string, tokens: [string, string], fee: number): string {
  const name = [factory, ...tokens, fee].join('/')
  const known = poolAddresses.get(name) ?? derivePoolAddress(factory, tokens, fee)
  poolAddresses.set(name, known)
  return known
}

function derivePoolAddress(factory: string, tokens: [string, string], fee: number): string {
  const sorted = tokens.toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const key = AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint24'], [...sorted, fee])
  return getCreate2Address(factory, keccak256(key), POOL_CODE_HASH)
}

type Tier = { quoter: string; fee: number; block: BlockRef }

/** Base units that the pool of a tier gives; none when it does not exist, or cannot give as much. */
const readPoolQuote = shareAtBlock(
  async (client, { from, to, unitsIn, fee, block, ...at }: Swap & Tier): Promise<bigint> => {
    const args = [[from.address, to.address, unitsIn, fee, 0]]
    const call = { to: at.quoter, abi: quoter, name: 'quoteExactInputSingle', args, block }
    try {
      const [unitsOut] = await readContract(client, call)
      return unitsOut as bigint
    } catch (error) {
      if (isRevert(error)) return 0n
      throw error
    }
  },
  ({ from, to, unitsIn, fee }) => `${from.address}/${to.address}/${fee}/${unitsIn}`,
)

/** What the swap would bring at the pool's average price. */
async function readAverage(
  client: ChainClient,
  { from, to, unitsIn }: Swap,
  pool: { address: string; block: BlockRef },
): Promise<bigint | undefined> {
  const tick = await readAverageTick(client, pool)
  if (tick === undefined) return undefined
  return boughtAt(BigInt(from.address) < BigInt(to.address) ? tick : -tick, unitsIn)
}

/** The logarithm of a pool's average price. One that remembers too little reverts. */
const readAverageTick = shareAtBlock(
  async (client, { address: to, block }: { address: string; block: BlockRef }) => {
    const call = { to, abi: oracle, name: 'observe', args: [[AVERAGE_SECONDS, 0]], block }
    try {
      const [[before = 0n, now = 0n]] = (await readContract(client, call)) as unknown as [bigint[]]
      return Number(now - before) / AVERAGE_SECONDS
    } catch (error) {
      if (isRevert(error)) return undefined
      throw error
    }
  },
  ({ address }) => address,
)

/** A price is a power of this: a tick is a ten-thousandth. */
const TICK_BASE = 1.0001
/** Decimal places of a price: far finer than a tick. */
const PRICE_SCALE = 1e15

/** Base units of the one token that so many of the other buy at a tick. */
const boughtAt = (tick: number, units: bigint): bigint =>
  (units * BigInt(Math.round(TICK_BASE ** tick * PRICE_SCALE))) / BigInt(PRICE_SCALE)

/** The calls that swap the wallet's tokens in the pool of a tier for no less than `minimumUnits`. */
export function encodeSwap(
  address: string,
  { from, to, unitsIn }: Swap,
  { wallet, fee, minimumUnits }: { wallet: string; fee: number; minimumUnits: bigint },
): Call[] {
  const order = [from.address, to.address, fee, wallet, unitsIn, minimumUnits, 0]
  return [
    encodeApprove(from.address, address, unitsIn),
    { to: address, data: router.encodeFunctionData('exactInputSingle', [order]) },
  ]
}

/** Base units of any listed token that the logs of one swap show as received by the wallet. */
export function swappedUnits(chain: Chain, wallet: string, logs: Log[]): bigint {
  const listed = tokensOf(chain).map(({ address }) => address.toLowerCase())
  return logs
    .filter((log) => listed.includes(log.address.toLowerCase()))
    .map((log) => erc20.parseLog(log))
    .filter((event) => event?.name === 'Transfer' && event.args.to === wallet)
    .reduce((sum, event) => sum + (event?.args.value as bigint), 0n)
}
