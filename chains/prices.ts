import { Interface } from 'ethers'
import { largest, smallest } from '../domain/money.js'
import { share } from '../share.js'
import { didAnswer, disabledBecause, type ChainClient } from './connect.js'
import { readContract } from './read.js'

/** Gas costs are told to a tenth of a cent: a price a minute old is good enough. */
const PRICE_TTL_MS = 60_000

/** @see https://docs.chain.link/data-feeds/api-reference */
export const priceFeed = new Interface([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
])

/** USD per ETH with 8 decimals, from the chain's Chainlink feed, at most a minute old. */
export const readEthPrice = share(
  async (client: ChainClient): Promise<bigint> => {
    const call = { to: client.chain.ethUsdFeed, abi: priceFeed, name: 'latestRoundData' }
    const round = await readContract(client, call)
    return round[1] as bigint
  },
  { ttlMs: PRICE_TTL_MS },
)

/** What blocks were filled with changes slower. */
const TIP_TTL_MS = 5_000

/** Wei per unit of gas for the block producer, as the node suggests it within the chain's bounds, at most 5 seconds old. */
export const readTip = share(
  async ({ chain, send }: ChainClient): Promise<bigint> => {
    const { lowest, highest } = chain.tipWei
    if (lowest === highest) return lowest
    try {
      const tip = BigInt(await send<string>('eth_maxPriorityFeePerGas', []))
      return largest(lowest, smallest(tip, highest))
    } catch (error) {
      // Not every node has the method.
      if (didAnswer(error)) return lowest
      throw error
    }
  },
  { ttlMs: TIP_TTL_MS },
)

/** USD per ETH as a chain's own feed has it, or where that is broken another chain's: it is the same coin. */
export function readAnyEthPrice(client: ChainClient, others: ChainClient[]): Promise<bigint> {
  const sound = [client, ...others].find((one) => !disabledBecause(one, 'prices'))
  return readEthPrice(sound ?? client)
}
