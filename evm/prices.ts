import { Interface } from 'ethers'
import { leastOutput, mostOutput, type PriceLimits } from '../domain/limits.js'
import { largest, smallest } from '../domain/money.js'
import { createCache } from '../runtime/cache.js'
import { MULTICALL_ADDRESS } from './calls/multicall.js'
import { didAnswer, disabledBecause, isContractFault, type ChainClient } from './connect.js'
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

const multicall = new Interface(['function getCurrentBlockTimestamp() view returns (uint256)'])

/** With 8 decimals. */
export const ONE_USD = 100_000_000n

/** The slowest feeds of ETH are updated once a day. An older price would mislead. */
export const MAX_PRICE_AGE_SECONDS = 90_000

/** Plausible prices, USD with 8 decimals, and their highest age. */
type PriceBounds = { lowest: bigint; highest: bigint; ageSeconds: number }
/** From 10 to a million USD. */
const ETH_BOUNDS = { lowest: 10n ** 9n, highest: 10n ** 14n, ageSeconds: MAX_PRICE_AGE_SECONDS }
/** From a cent to 100 USD. A feed is updated when the price changes, and else once a day, on test networks later. */
const USDC_BOUNDS = { lowest: 10n ** 6n, highest: 10n ** 10n, ageSeconds: 7 * 86_400 }

/** The price of a feed, USD with 8 decimals; undefined when it has no plausible one at the block. */
async function askPrice(
  client: ChainClient,
  { feed: to, bounds, block }: { feed: string; bounds: PriceBounds; block: BlockRef },
): Promise<bigint | undefined> {
  const [round, [now]] = await Promise.all([
    readContract(client, { to, abi: priceFeed, name: 'latestRoundData', block }),
    readContract(client, {
      to: MULTICALL_ADDRESS,
      abi: multicall,
      name: 'getCurrentBlockTimestamp',
      block,
    }),
  ])
  const price = round[1] as bigint
  const ageSeconds = (now as bigint) - (round[3] as bigint)
  const isPlausible = price >= bounds.lowest && price <= bounds.highest
  return isPlausible && ageSeconds <= bounds.ageSeconds ? price : undefined
}

type AtBlock = Omit<Place, 'client'>

const askEthPrice = (client: ChainClient, { block }: AtBlock) =>
  askPrice(client, { feed: client.chain.ethUsdFeed, bounds: ETH_BOUNDS, block })

async function askUsdcPrice(client: ChainClient, { block }: AtBlock): Promise<bigint | undefined> {
  const { usdcUsdFeed: feed } = client.chain
  return feed === undefined ? ONE_USD : askPrice(client, { feed, bounds: USDC_BOUNDS, block })
}

/** USD per ETH with 8 decimals, from the chain's Chainlink feed, at most a minute old. Undefined when unknown. */
export const readEthPrice = createCache(
  (client: ChainClient) => askEthPrice(client, { block: 'latest' }).catch(unlessSilent),
  { ttlMs: TTL_MS },
)

/** USD per USDC with 8 decimals, as `readEthPrice`. One USD on a chain without a feed. */
export const readUsdcPrice = createCache(
  (client: ChainClient) => askUsdcPrice(client, { block: 'latest' }).catch(unlessSilent),
  { ttlMs: TTL_MS },
)

const readSharedUsdcPrice = shareAtBlock(askUsdcPrice)

/** USD per USDC at a block; undefined when unknown. */
export const readUsdcPriceAt = ({ client, block }: Place): Promise<bigint | undefined> =>
  readSharedUsdcPrice(client, { block }).catch(() => undefined)

/** True for a price of USDC within the limit that swaps have around parity. */
export const isPegged = (priceE8: bigint, limits: PriceLimits): boolean =>
  priceE8 >= leastOutput(ONE_USD, limits) && priceE8 <= mostOutput(ONE_USD, limits)

/** A feed that reverts has no price. Throws when the node itself failed. */
function unlessSilent(error: unknown): undefined {
  if (!isContractFault(error)) throw error
}

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

/**
 * USD per ETH from the chain's own feed, or from the first other one that has a price. Undefined when none has: a price
 * is for display, and its absence stops nothing.
 */
export async function readAnyEthPrice(place: Place, others: Place[]): Promise<bigint | undefined> {
  const enabled = [place, ...others].filter(({ client }) => !disabledBecause(client, 'prices'))
  for (const at of enabled) {
    const price = await readEthPriceAt(at.client, at).catch(() => undefined)
    if (price !== undefined) return price
  }
  return undefined
}
