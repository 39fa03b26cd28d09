import { Interface } from 'ethers'
import { largest, smallest } from '../domain/money.js'
import { share } from '../share.js'
import { didAnswer, disabledBecause, type ChainClient } from './connect.js'
import { readBlock, readContract, type BlockRef } from './read.js'
import { shareAtBlock } from './shareAtBlock.js'

/** Gas costs are told to a tenth of a cent: a price a minute old is good enough. */
const PRICE_TTL_MS = 60_000

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
export const readEthPrice = share(
  (client: ChainClient) => askEthPrice(client, { block: 'latest' }),
  { ttlMs: PRICE_TTL_MS },
)

const readEthPriceAt = shareAtBlock(askEthPrice)

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

/** What is estimated is spent a while later, over a bridge a quarter of an hour, and the tip is the lesser part of it. */
const USUAL_TIP_TTL_MS = 5 * 60_000
const BASE_FEE_TTL_MS = 60_000

const readUsualTip = share((client: ChainClient) => readTip(client), { ttlMs: USUAL_TIP_TTL_MS })

const readHeadsBaseFee = share(
  async (client: ChainClient) => (await readBlock(client, 'latest'))?.baseFeeWei ?? 0n,
  { ttlMs: BASE_FEE_TTL_MS },
)

/**
 * Wei per unit of gas, tip included: for estimates. Who signs asks for what holds now. The tip is at most five minutes old.
 *
 * @param baseFeeWei - Of the block that counts. Absent: that of the head, at most a minute old.
 */
export async function readGasPrice(client: ChainClient, baseFeeWei?: bigint): Promise<bigint> {
  const [feeWei, tipWei] = await Promise.all([
    baseFeeWei ?? readHeadsBaseFee(client),
    readUsualTip(client),
  ])
  return feeWei + tipWei
}

/** USD per ETH as a chain's own feed has it, or where that is broken another chain's: it is the same coin. */
export function readAnyEthPrice(place: Place, others: Place[]): Promise<bigint> {
  const sound = [place, ...others].find(({ client }) => !disabledBecause(client, 'prices')) ?? place
  return readEthPriceAt(sound.client, sound)
}
