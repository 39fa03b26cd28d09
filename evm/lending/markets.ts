import { aaveV3 } from './aaveV3.js'
import { compoundV3 } from './compoundV3.js'
import { erc4626 } from './erc4626.js'
import type { LendingProtocol } from './lending.js'
import { disabledBecause, isContractFault, type ChainClient } from '../connect.js'
import { createCache } from '../../runtime/cache.js'
import { shareAtBlock } from '../shareAtBlock.js'
import { tokensOf, type Chain, type Market } from '../registry.js'
import { isFound } from '../../domain/capability.js'
import type { BlockRef } from '../read.js'
import type { Rate } from '../../domain/yields.js'

const protocols: Record<Market['protocol'], LendingProtocol> = {
  'aave-v3': aaveV3,
  'compound-v3': compoundV3,
  erc4626,
}

export const lendingProtocol = (market: Market): LendingProtocol => protocols[market.protocol]

/** Precision of APY in decimals; no market's rate changes less within a minute. */
const APY_DECIMALS = 4

/** Amounts from here on count as unlimited: more than the supply of any token. */
export const BOUNDLESS = 2n ** 128n

/**
 * Why deposits to a market are disabled, as a clause; undefined when they are enabled. A candidate market is disabled
 * until the probe has found it.
 */
export function disabledMarket(client: ChainClient, market: Market): string | undefined {
  const lending = `lending:${market.address}` as const
  const why = disabledBecause(client, lending)
  if (why !== undefined || !market.isCandidate) return why
  const { findings } = client.condition
  return isFound(findings, market.address) ? undefined : 'it was not found there'
}

/** False for a market that cannot be read. */
export const isThere = (client: ChainClient, { address }: Market): boolean =>
  disabledBecause(client, `market:${address}`) === undefined

/** A market that cannot be read now. `why` is a clause. */
export type UnreadableMarket = { market: Market; why: string }
export type MarketRates = { rates: Rate[]; unreadable: UnreadableMarket[] }

/**
 * The rates of all enabled markets of a chain, including closed ones. The APY in percent has four decimals. `asset`:
 * the token that the market accepts, which may not be USDC. A market that reverts or has no plausible rate is left out.
 *
 * @param block - The latest by default.
 */
export async function readRates(
  client: ChainClient,
  block: BlockRef = 'latest',
): Promise<MarketRates> {
  const offered = client.chain.markets.filter((market) => !disabledMarket(client, market))
  const { answers: rates, unreadable } = await readEach(offered, (market) =>
    readRate(client, { market, block }),
  )
  return { rates, unreadable }
}

/** The answers of the markets, and those markets whose own contracts failed. Throws when a node fails. */
export async function readEach<Answer>(
  markets: Market[],
  read: (market: Market) => Promise<Answer>,
): Promise<{ answers: Answer[]; unreadable: UnreadableMarket[] }> {
  const unreadable: UnreadableMarket[] = []
  const answers = await Promise.all(
    markets.map(async (market) => {
      try {
        return [await read(market)]
      } catch (error) {
        if (!isContractFault(error)) throw error
        const { decoded, reason } = error.details
        const isExplained = decoded === false && typeof reason === 'string'
        unreadable.push({ market, why: isExplained ? reason : 'it cannot be read' })
        return []
      }
    }),
  )
  return { answers: answers.flat(), unreadable }
}

/** Each deposit changes the rates, but only slightly. */
const RATES_TTL_MS = 5_000

/** The rates of a chain, at most five seconds old. Concurrent callers share one read. */
export const readSharedRates = createCache((client: ChainClient) => readRates(client), {
  ttlMs: RATES_TTL_MS,
})

const readRate = shareAtBlock(
  async (client, { market, block }: { market: Market; block: BlockRef }): Promise<Rate> => {
    const { chain } = client
    const protocol = lendingProtocol(market)
    const [apy, capacityUnits, cashUnits, suppliedUnits] = await Promise.all([
      protocol.readApy(client, market, block),
      protocol.readCapacity(client, market, block),
      protocol.readCash(client, market, block),
      protocol.readSupplied(client, market, block),
    ])
    const isKnown = cashUnits !== undefined && suppliedUnits !== undefined
    return {
      chain: chain.name,
      protocol: market.protocol,
      market: market.address,
      asset: assetOf(chain, market),
      apyPercent: roundApy(apy),
      ...(capacityUnits < BOUNDLESS ? { capacityUnits } : {}),
      ...(isKnown ? { liquidity: { suppliedUnits, cashUnits } } : {}),
    }
  },
  ({ market }) => market.address,
)

/** Symbol of the token that a market accepts. */
export function assetOf(chain: Chain, { underlying, address }: Market): string {
  const token = tokensOf(chain).find((candidate) => candidate.address === underlying)
  if (!token) throw new Error(`The token of the market ${address} is not listed.`)
  return token.symbol
}

const roundApy = (percent: number) => Number(percent.toFixed(APY_DECIMALS))

/** The pool that finally holds a market's money. A vault shares capacity and cash with the market it lends to. */
export const poolOf = ({ address, underlying, lendsTo }: Market): string =>
  `${lendsTo?.pool ?? address}/${underlying}`.toLowerCase()

/** The market, and the other markets of its chain that share its capacity and cash. */
export const marketsSharing = ({ markets }: Chain, market: Market): Market[] =>
  markets.filter((other) => poolOf(other) === poolOf(market))

/** The market of a plan's step. Throws when the deployment does not list it, so that it is never called. */
export function getMarket(chain: Chain, address: string): Market {
  const market = chain.markets.find((candidate) => candidate.address === address)
  if (!market) throw new Error(`No market ${address} on ${chain.name} in this deployment.`)
  return market
}
