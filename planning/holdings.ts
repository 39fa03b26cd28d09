import { readBalance, type BlockRef } from '../chains/read.js'
import { findToken, type Market } from '../chains/registry.js'
import { disabledMarket, isThere, lendingProtocol } from '../protocols/lending/markets.js'
import type { ChainClient } from '../chains/connect.js'

/** What a wallet has in a market, and what the market could pay out. Units of the underlying. */
export type MarketHolding = { market: Market; units: bigint; liquidityUnits: bigint }

/** A wallet as it was at a block; `offered`: the block at which markets tell what they could pay out. */
type Holder = { wallet: string; block: BlockRef; offered: BlockRef }

/** What the wallet holds of the asset; nothing where the chain does not list it. */
export async function readAsset(
  client: ChainClient,
  asset: string,
  { wallet, block }: Omit<Holder, 'offered'>,
): Promise<bigint> {
  const token = findToken(client.chain, asset)?.address
  return token ? readBalance(client, { token, owner: wallet, block }) : 0n
}

/** Also of markets to which nothing may be lent: what is in them comes out if they say what that is. */
export async function readMarketHoldings(
  client: ChainClient,
  holder: Holder,
): Promise<MarketHolding[]> {
  const markets = client.chain.markets.filter((market) => isThere(client, market))
  const holdings = await Promise.all(
    markets.map(async (market) => {
      const holding = readHolding(client, market, holder)
      if (disabledMarket(client, market) === undefined) return holding
      return holding.catch(() => undefined)
    }),
  )
  return holdings.filter((holding) => holding !== undefined)
}

async function readHolding(
  client: ChainClient,
  market: Market,
  { wallet, block, offered }: Holder,
): Promise<MarketHolding> {
  const protocol = lendingProtocol(market)
  const [units, liquidityUnits] = await Promise.all([
    protocol.readPosition(client, market, { wallet, block }),
    protocol.readLiquidity(client, market, { wallet, block: offered }),
  ])
  return { market, units, liquidityUnits }
}
