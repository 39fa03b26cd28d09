import { Interface } from 'ethers'
import { readContract } from './read.js'
import type { ChainClient } from './connect.js'

/** Gas costs are told to a tenth of a cent: a price a minute old is good enough. */
const PRICE_TTL_MS = 60_000

/** @see https://docs.chain.link/data-feeds/api-reference#latestrounddata */
const feed = new Interface([
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
])

const cached = new WeakMap<ChainClient, { priceE8: bigint; readAt: number }>()

/** USD per ETH with 8 decimals, from the chain's Chainlink feed, at most a minute old. */
export async function readEthPrice(client: ChainClient): Promise<bigint> {
  const known = cached.get(client)
  if (known && Date.now() - known.readAt < PRICE_TTL_MS) return known.priceE8
  const round = await readContract(client, {
    to: client.chain.ethUsdFeed,
    abi: feed,
    name: 'latestRoundData',
  })
  const priceE8 = round[1] as bigint
  cached.set(client, { priceE8, readAt: Date.now() })
  return priceE8
}
