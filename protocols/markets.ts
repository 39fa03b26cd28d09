import { aaveV3 } from './aaveV3.js'
import { compoundV3 } from './compoundV3.js'
import { erc4626 } from './erc4626.js'
import type { LendingProtocol } from './lending.js'
import type { ChainClient } from '../chains/connect.js'
import type { Chain, Market } from '../chains/registry.js'
import type { Rate } from '../domain/yields.js'

const protocols: Record<Market['protocol'], LendingProtocol> = {
  'aave-v3': aaveV3,
  'compound-v3': compoundV3,
  erc4626,
}

export const lendingProtocol = (market: Market): LendingProtocol => protocols[market.protocol]

/** Protocols whose calls the signer lets pass. Markets of others are not offered. */
const offered: Market['protocol'][] = ['aave-v3']

/** Finer than any market's own movement within a minute. */
const APY_DECIMALS = 4

/**
 * The rates of all offered markets of a chain whose underlying is the chain's USDC, their APY in
 * percent rounded to four decimals.
 */
export async function readRates(client: ChainClient): Promise<Rate[]> {
  const { chain } = client
  const markets = chain.markets.filter(
    ({ protocol, underlying }) => offered.includes(protocol) && underlying === chain.usdc.address,
  )
  return Promise.all(
    markets.map(async (market) => ({
      chain: chain.name,
      protocol: market.protocol,
      market: market.address,
      asset: chain.usdc.symbol,
      apyPercent: roundApy(await lendingProtocol(market).readApy(client, market)),
    })),
  )
}

const roundApy = (percent: number) => Number(percent.toFixed(APY_DECIMALS))

/** The market of a plan's step. Throws when the deployment does not list it: it is not called then. */
export function getMarket(chain: Chain, address: string): Market {
  const market = chain.markets.find((candidate) => candidate.address === address)
  if (!market) throw new Error(`No market ${address} on ${chain.name} in this deployment.`)
  return market
}
