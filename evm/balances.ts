import { Interface } from 'ethers'
import { MULTICALL_ADDRESS } from './calls/multicall.js'
import { ONE_USD, isPegged, readEthPrice, readUsdcPrice } from './prices.js'
import { readBalance, readContract, type BlockRef } from './read.js'
import { tokensOf } from './registry.js'
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

/**
 * Balances of USDC, other listed tokens and ETH at the head of a chain. Zero balances are omitted. USDC is worth what its
 * feed reports, unknown outside the limits. The USD tokens that it is swapped for count as 1 USD.
 */
export async function readHoldings(
  client: ChainClient,
  { owner, limits }: { owner: string; limits: PriceLimits },
): Promise<Holding[]> {
  const { usdc } = client.chain
  const tokens = tokensOf(client.chain)
  const [wei, amounts, reported] = await Promise.all([
    readEthBalance(client, { owner }),
    Promise.all(tokens.map(({ address }) => readBalance(client, { token: address, owner }))),
    readUsdcPrice(client),
  ])
  const usdcPrice = reported !== undefined && isPegged(reported, limits) ? reported : undefined
  // Wallets need no ETH: the price is read only for those that received some.
  const ethPrice = wei > 0n ? await readEthPrice(client) : undefined
  const holdings = [
    ...tokens.map(({ symbol, decimals }, i) => {
      const priceE8 = symbol === usdc.symbol ? usdcPrice : ONE_USD
      return { asset: symbol, units: amounts[i] ?? 0n, decimals, priceE8 }
    }),
    { asset: 'ETH', units: wei, decimals: 18, priceE8: ethPrice },
  ]
  return holdings.filter((holding) => holding.units > 0n)
}
