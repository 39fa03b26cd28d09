import { Interface } from 'ethers'
import { disabledBecause, isRevert, type ChainClient } from '../../chains/connect.js'
import { readContract, type BlockRef, type Log } from '../../chains/read.js'
import { tokensOf, type Chain, type Token } from '../../chains/registry.js'
import { encodeApprove } from '../approve.js'
import type { Call } from '../../domain/operation.js'

export const SWAP_PROTOCOL = 'uniswap-v3'

/** Tiers of pools between tokens of the same worth, millionths. */
const fees = [100, 500]

/** @see https://docs.uniswap.org/contracts/v3/reference/periphery/interfaces/IQuoterV2 */
const quoter = new Interface([
  `function quoteExactInputSingle(tuple(address tokenIn, address tokenOut, uint256 amountIn,
    uint24 fee, uint160 sqrtPriceLimitX96) params) returns (uint256 amountOut,
    uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)`,
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
/** What the best pool would give, and its tier in millionths. */
export type Quote = { unitsOut: bigint; fee: number }

/** The best quote of a swap at a block, undefined when no pool can give one, or swaps are disabled. */
export async function readQuote(
  client: ChainClient,
  swap: Swap,
  block: BlockRef = 'latest',
): Promise<Quote | undefined> {
  const { uniswap } = client.chain
  if (!uniswap || disabledBecause(client, 'swaps')) return undefined
  const quotes = await Promise.all(
    fees.map((fee) => readTier(client, swap, { quoter: uniswap.quoter, fee, block })),
  )
  const best = quotes.reduce((a, b) => (b.unitsOut > a.unitsOut ? b : a), noQuote)
  return best.unitsOut > 0n ? best : undefined
}

const noQuote: Quote = { unitsOut: 0n, fee: 0 }

/** A pool that does not exist, or cannot give as much, reverts. */
async function readTier(
  client: ChainClient,
  { from, to, unitsIn }: Swap,
  tier: { quoter: string; fee: number; block: BlockRef },
): Promise<Quote> {
  const { fee, block } = tier
  const args = [[from.address, to.address, unitsIn, fee, 0]]
  const call = { to: tier.quoter, abi: quoter, name: 'quoteExactInputSingle', args, block }
  try {
    const [unitsOut] = await readContract(client, call)
    return { unitsOut: unitsOut as bigint, fee }
  } catch (error) {
    if (isRevert(error)) return noQuote
    throw error
  }
}

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
