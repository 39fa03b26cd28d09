import { readBalance, type BlockRef } from '../evm/read.js'
import { findToken, type Market } from '../evm/registry.js'
import {
  disabledMarket,
  isThere,
  lendingProtocol,
  readEach,
  type UnreadableMarket,
} from '../evm/lending/markets.js'
import type { ChainClient } from '../evm/connect.js'

/** A wallet's position in a market, and the cash of the market. Units of the underlying. */
export type MarketPosition = { market: Market; units: bigint; liquidityUnits: bigint }

/** A wallet at a block. `offered`: the block at which the markets' cash is read. */
export type WalletAt = { wallet: string; block: BlockRef; offered: BlockRef }

/** The wallet's balance of the asset. Zero where the chain does not list it. */
export async function readAsset(
  client: ChainClient,
  asset: string,
  { wallet, block }: Omit<WalletAt, 'offered'>,
): Promise<bigint> {
  const token = findToken(client.chain, asset)?.address
  return token ? readBalance(client, { token, owner: wallet, block }) : 0n
}

type MarketPositions = { holdings: MarketPosition[]; unreadable: UnreadableMarket[] }

/** Includes markets that accept no deposits: their positions can be withdrawn if the market reports them. */
export async function readMarketPositions(
  client: ChainClient,
  holder: WalletAt,
): Promise<MarketPositions> {
  const markets = client.chain.markets.filter((market) => isThere(client, market))
  const { answers, unreadable } = await readEach(markets, (market) => {
    const holding = readHolding(client, market, holder)
    if (disabledMarket(client, market) === undefined) return holding
    return holding.catch(() => undefined)
  })
  return { holdings: answers.filter((holding) => holding !== undefined), unreadable }
}

async function readHolding(
  client: ChainClient,
  market: Market,
  { wallet, block, offered }: WalletAt,
): Promise<MarketPosition> {
  const protocol = lendingProtocol(market)
  const [units, liquidityUnits] = await Promise.all([
    protocol.readPosition(client, market, { wallet, block }),
    protocol.readLiquidity(client, market, { wallet, block: offered }),
  ])
  return { market, units, liquidityUnits }
}
