import { Interface } from 'ethers'
import { readContract } from '../chains/read.js'
import type { ChainClient } from '../chains/connect.js'
import type { BlockRef, Log } from '../chains/read.js'
import type { Chain, Pool, Token } from '../chains/registry.js'
import type { Call } from '../domain/operation.js'

export const swapProtocol = 'uniswap-v3'

/** @see https://docs.uniswap.org/contracts/v3/reference/periphery/interfaces/IQuoterV2 */
const quoter = new Interface([
  `function quoteExactInputSingle(tuple(address tokenIn, address tokenOut, uint256 amountIn,
    uint24 fee, uint160 sqrtPriceLimitX96) params) returns (uint256 amountOut,
    uint160 sqrtPriceX96After, uint32 initializedTicksCrossed, uint256 gasEstimate)`,
])
/** SwapRouter02: no deadline in its parameters. */
export const router = new Interface([
  `function exactInputSingle(tuple(address tokenIn, address tokenOut, uint24 fee, address recipient,
    uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)
    returns (uint256 amountOut)`,
])
const erc20 = new Interface([
  'function approve(address spender, uint256 amount)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** What is swapped for what, in base units. */
export type Swap = { pool: Pool; from: Token; to: Token; unitsIn: bigint }

/** The pool of two tokens, undefined when the deployment lists none. */
export function findPool({ swap }: Chain, from: Token, to: Token): Pool | undefined {
  return swap?.pools.find(({ tokens }) => [from, to].every((t) => tokens.includes(t.address)))
}

/** Base units that a swap would bring at a block. */
export async function readQuote(
  client: ChainClient,
  { pool, from, to, unitsIn }: Swap,
  block: BlockRef = 'latest',
): Promise<bigint> {
  const order = [from.address, to.address, unitsIn, pool.fee, 0]
  const address = client.chain.swap?.quoter ?? ''
  const name = 'quoteExactInputSingle'
  const [unitsOut] = await readContract(client, address, quoter, name, [order], block)
  return unitsOut as bigint
}

/** The calls that swap the wallet's tokens for no less than `minimumUnits`. */
export function encodeSwap(
  { swap }: Chain,
  wallet: string,
  { pool, from, to, unitsIn }: Swap,
  minimumUnits: bigint,
): Call[] {
  const address = swap?.router ?? ''
  const order = [from.address, to.address, pool.fee, wallet, unitsIn, minimumUnits, 0]
  return [
    { to: from.address, data: erc20.encodeFunctionData('approve', [address, unitsIn]) },
    { to: address, data: router.encodeFunctionData('exactInputSingle', [order]) },
  ]
}

/** Base units of any listed token that the logs of one swap show as received by the wallet. */
export function swappedUnits({ tokens }: Chain, wallet: string, logs: Log[]): bigint {
  const listed = tokens.map(({ address }) => address.toLowerCase())
  return logs
    .filter((log) => listed.includes(log.address.toLowerCase()))
    .map((log) => erc20.parseLog(log))
    .filter((event) => event?.name === 'Transfer' && event.args.to === wallet)
    .reduce((sum, event) => sum + (event?.args.value as bigint), 0n)
}
