import { Interface } from 'ethers'
import { largest, smallest } from '../domain/money.js'
import { createCache } from '../runtime/cache.js'
import { didAnswer, disabledBecause, type ChainClient } from './connect.js'
import { readBlock, readContract, type BlockRef } from './read.js'
import { shareAtBlock } from './shareAtBlock.js'

/** Reported gas costs have a precision of 0.001 USD, and tips are bounded: a minute-old value suffices. */
const TTL_MS = 60_000

/** @see https://docs.chain.link/data-feeds/api-reference */
export const priceFeed = new Interface([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
])

/** A chain at a block. */
export type Place = { client: ChainClient; block: BlockRef }

async function askEthPrice(client: ChainClient, { block }: Omit<Place, 'client'>): Promise<bigint> {
  const call = { to: client.chain.ethUsdFeed, abi: priceFeed, name: 'latestRoundData', block }
  const round = await readContract(client, call)
  return round[1] as bigint
}

/** USD per ETH with 8 decimals, from the chain's Chainlink feed, at most a minute old. */
export const readEthPrice = createCache(
  (client: ChainClient) => askEthPrice(client, { block: 'latest' }),
  { ttlMs: TTL_MS },
)

const readEthPriceAt = shareAtBlock(askEthPrice)

/** Wei per gas for the block producer: the node's suggestion within the chain's bounds, at most a minute old. */
export const readTip = createCache(
  async ({ chain, send }: ChainClient): Promise<bigint> => {
    const { lowest, highest } = chain.tipWei
    if (lowest === highest) return lowest
    try {
      const tip = BigInt(await send<string>('eth_maxPriorityFeePerGas', []))
      return largest(lowest, smallest(tip, highest))
    } catch (error) {
      // Some nodes do not have the method.
      if (didAnswer(error)) return lowest
      throw error
    }
  },
  { ttlMs: TTL_MS },
)

const readHeadsBaseFee = createCache(
  async (client: ChainClient) => (await readBlock(client, 'latest'))?.baseFeeWei ?? 0n,
  { ttlMs: TTL_MS },
)

/**
 * Wei per gas including the tip, for estimates.
 *
 * @param baseFeeWei - Base fee to use. Absent: that of the head, at most a minute old.
 */
export async function readGasPrice(client: ChainClient, baseFeeWei?: bigint): Promise<bigint> {
  const [feeWei, tipWei] = await Promise.all([
    baseFeeWei ?? readHeadsBaseFee(client),
    readTip(client),
  ])
  return feeWei + tipWei
}

/** USD per ETH from the chain's own feed, or from another chain's feed when it is disabled. */
export function readAnyEthPrice(place: Place, others: Place[]): Promise<bigint> {
  const sound = [place, ...others].find(({ client }) => !disabledBecause(client, 'prices')) ?? place
  return readEthPriceAt(sound.client, sound)
}
