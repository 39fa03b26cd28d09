import { Interface } from 'ethers'
import { MULTICALL_ADDRESS } from './calls/multicall.js'
import { ONE_USD, isPegged, readEthPrice, readUsdcPrice } from './prices.js'
import { isContractFault } from './connect.js'
import { readBalance, readContract, type BlockRef } from './read.js'
import { disabledMarket, lendingProtocol } from './lending/markets.js'
import { tokensOf, type Token } from './registry.js'
import type { PriceLimits } from '../domain/limits.js'
import type { ChainClient } from './connect.js'

/** Units are base units of the token; `priceE8` is USD per whole token with 8 decimals, undefined when unknown. */
export type Holding = {
  asset: string
  units: bigint
  decimals: number
  priceE8: bigint | undefined
}

const native = new Interface(['function getEthBalance(address) view returns (uint256)'])

/** Wei of an account at a block; the latest by default. Batched with other contract reads. */
export async function readEthBalance(
  client: ChainClient,
  { owner, block = 'latest' }: { owner: string; block?: BlockRef },
): Promise<bigint> {
  const call = { to: MULTICALL_ADDRESS, abi: native, name: 'getEthBalance', args: [owner], block }
  const [wei] = await readContract(client, call)
  return wei as bigint
}

/** The owner of holdings, and the limits within which the price of USDC counts as known. */
type Valued = { owner: string; limits: PriceLimits }

/**
 * Balances of USDC, other listed tokens and ETH at the head of a chain. Zero balances are omitted. USDC is worth what its
 * feed reports, unknown outside the limits. The USD tokens that it is swapped for count as 1 USD.
 */
export async function readHoldings(
  client: ChainClient,
  { owner, limits }: Valued,
): Promise<Holding[]> {
  const tokens = tokensOf(client.chain)
  const [wei, amounts, usdcPrice] = await Promise.all([
    readEthBalance(client, { owner }),
    Promise.all(tokens.map(({ address }) => readBalance(client, { token: address, owner }))),
    readPeggedPrice(client, limits),
  ])
  // Wallets need no ETH: the price is read only for those that received some.
  const ethPrice = wei > 0n ? await readEthPrice(client) : undefined
  const holdings = [
    ...tokens.map((token, i) => toHolding(client, token, { units: amounts[i] ?? 0n, usdcPrice })),
    { asset: 'ETH', units: wei, decimals: 18, priceE8: ethPrice },
  ]
  return holdings.filter((holding) => holding.units > 0n)
}

/**
 * What an account has lent at the head of a chain, with interest, in the tokens of its markets. A disabled candidate
 * market that cannot be read holds nothing. Throws when another market cannot be read.
 */
export async function readLentHoldings(
  client: ChainClient,
  { owner, limits }: Valued,
): Promise<Holding[]> {
  const { markets } = client.chain
  const [lent, usdcPrice] = await Promise.all([
    Promise.all(
      markets.map((market) => {
        const held = { wallet: owner, block: 'latest' as const }
        const units = lendingProtocol(market).readPosition(client, market, held)
        const isUncertain = market.isCandidate && disabledMarket(client, market) !== undefined
        return isUncertain ? units.catch(noneIfFaulty) : units
      }),
    ),
    readPeggedPrice(client, limits),
  ])
  return markets.flatMap(({ underlying }, i) => {
    const token = tokensOf(client.chain).find(({ address }) => address === underlying)
    const units = lent[i] ?? 0n
    return token && units > 0n ? [toHolding(client, token, { units, usdcPrice })] : []
  })
}

/** A contract that reverts or returns nothing plausible holds nothing. */
function noneIfFaulty(error: unknown): bigint {
  if (isContractFault(error)) return 0n
  throw error
}

/** USD per USDC with 8 decimals. Undefined outside the limits. */
async function readPeggedPrice(
  client: ChainClient,
  limits: PriceLimits,
): Promise<bigint | undefined> {
  const reported = await readUsdcPrice(client)
  return reported !== undefined && isPegged(reported, limits) ? reported : undefined
}

type Amount = { units: bigint; usdcPrice: bigint | undefined }

function toHolding(
  { chain }: ChainClient,
  { symbol, decimals }: Token,
  { units, usdcPrice }: Amount,
): Holding {
  const priceE8 = symbol === chain.usdc.symbol ? usdcPrice : ONE_USD
  return { asset: symbol, units, decimals, priceE8 }
}
