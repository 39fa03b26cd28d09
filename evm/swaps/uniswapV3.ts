import { AbiCoder, Interface, getCreate2Address, keccak256 } from 'ethers'
import { disabledBecause, isRevert, type ChainClient } from '../connect.js'
import { readContract, type BlockRef, type EventLog } from '../read.js'
import { findPool, tokensOf, type Chain, type Token } from '../registry.js'
import { shareAtBlock } from '../shareAtBlock.js'
import { encodeApprove } from '../calls/approve.js'
import type { Call } from '../../domain/intent/operation.js'

export const SWAP_PROTOCOL = 'uniswap-v3'

/** Window of a pool's average price. Holding a manipulated price that long is unaffordable. */
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
/** SwapRouter02 has no deadline parameter. */
const router = new Interface([
  `function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient,
    uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)
    returns (uint256 amountOut)`,
])
const erc20 = new Interface([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** A swap of `unitsIn` base units of `from` into `to`. */
export type SwapOrder = { from: Token; to: Token; unitsIn: bigint }
/**
 * The output of the pair's pool, and its tier in millionths. `averageUnitsOut`: at the average price of the last ten
 * minutes, without the fee. It is absent for a pool that is new, or keeps too few observations.
 */
export type Quote = { unitsOut: bigint; fee: number; averageUnitsOut?: bigint }

/**
 * The quote of a swap at a block, from the pool that the registry lists for the pair; undefined when the pool has no
 * quote, or swaps are disabled.
 */
export async function readQuote(
  client: ChainClient,
  swap: SwapOrder,
  block: BlockRef = 'latest',
): Promise<Quote | undefined> {
  const { uniswap } = client.chain
  const pool = findPool(client.chain, swap.from, swap.to)
  if (!uniswap || !pool || disabledBecause(client, 'swaps')) return undefined
  const { factory, quoter: to } = uniswap
  const address = poolAddress(factory, [swap.from.address, swap.to.address], pool.fee)
  const average = readAverage(client, swap, { address, block })
  // Without a pool this read fails too; its error is unused.
  average.catch(() => undefined)
  const unitsOut = await readPoolQuote(client, { ...swap, quoter: to, fee: pool.fee, block })
  if (unitsOut === 0n) return undefined
  const averageUnitsOut = await average
  const known = averageUnitsOut === undefined ? {} : { averageUnitsOut }
  return { unitsOut, fee: pool.fee, ...known }
}

/** Derived addresses, one per pair of the registry. */
const poolAddresses = new Map<string, string>()

/** The CREATE2 address of a pool. */
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

type PoolTier = { quoter: string; fee: number; block: BlockRef }

/** Base units that a pool pays; zero when it does not exist or cannot pay that much. */
const readPoolQuote = shareAtBlock(
  async (
    client,
    { from, to, unitsIn, fee, block, ...at }: SwapOrder & PoolTier,
  ): Promise<bigint> => {
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

/** Output of the swap at the pool's average price. */
async function readAverage(
  client: ChainClient,
  { from, to, unitsIn }: SwapOrder,
  pool: { address: string; block: BlockRef },
): Promise<bigint | undefined> {
  const tick = await readAverageTick(client, pool)
  if (tick === undefined) return undefined
  return boughtAt(BigInt(from.address) < BigInt(to.address) ? tick : -tick, unitsIn)
}

/** The average tick of a pool; undefined for a pool with too few observations, which reverts. */
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

/** Price factor of one tick. */
const TICK_BASE = 1.0001
/** Scale of a price, far finer than a tick. */
const PRICE_SCALE = 1e15

/** Base units of one token that `units` of the other one buy at a tick. */
const boughtAt = (tick: number, units: bigint): bigint =>
  (units * BigInt(Math.round(TICK_BASE ** tick * PRICE_SCALE))) / BigInt(PRICE_SCALE)

/** The calls that swap the wallet's tokens in the pool of a tier for at least `minimumUnits`. */
export function encodeSwap(
  address: string,
  { from, to, unitsIn }: SwapOrder,
  { wallet, fee, minimumUnits }: { wallet: string; fee: number; minimumUnits: bigint },
): Call[] {
  const order = [from.address, to.address, fee, wallet, unitsIn, minimumUnits, 0]
  return [
    encodeApprove(from.address, address, unitsIn),
    { to: address, data: router.encodeFunctionData('exactInputSingle', [order]) },
  ]
}

/** Base units of listed tokens that the wallet received in the logs of one swap. */
export function swappedUnits(chain: Chain, wallet: string, logs: EventLog[]): bigint {
  const listed = tokensOf(chain).map(({ address }) => address.toLowerCase())
  return logs
    .filter((log) => listed.includes(log.address.toLowerCase()))
    .map((log) => erc20.parseLog(log))
    .filter((event) => event?.name === 'Transfer' && event.args.to === wallet)
    .reduce((sum, event) => sum + (event?.args.value as bigint), 0n)
}
