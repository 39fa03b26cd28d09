import { readQuote, SWAP_PROTOCOL } from '../evm/swaps/uniswapV3.js'
import { findToken, tokensOf, type Market, type Token } from '../evm/registry.js'
import type { ChainClient } from '../evm/connect.js'
import type { Place } from '../evm/prices.js'
import type { IntentRequest } from '../domain/intent/intent.js'
import type { SwapQuote } from '../domain/plan/market.js'

/**
 * Quotes at a block for swaps between the requested asset and the assets of other markets. Without a pool for the amount
 * there is no quote.
 *
 * @param holdings - Positions that a withdrawal may use, in base units.
 */
export async function readQuotes(
  { client, block }: Place,
  request: IntentRequest,
  holdings: { market: Market; units: bigint }[],
): Promise<SwapQuote[]> {
  const asset = findToken(client.chain, request.asset)
  if (request.action === 'bridge' || !asset) return []
  const wanted = otherTokens(client, asset).flatMap((token) => {
    if (request.action === 'lend') {
      const { amountUnits: unitsIn } = request
      // Money is lent only where it could come back.
      return [
        { from: asset, to: token, unitsIn },
        { from: token, to: asset, unitsIn },
      ]
    }
    const lent = holdings.filter(({ market }) => market.underlying === token.address)
    const before = request.unswapped?.asset === token.symbol ? request.unswapped.units : 0n
    const unitsIn = lent.reduce((sum, { units }) => sum + units, before)
    return [{ from: token, to: asset, unitsIn }]
  })
  const quotes = await Promise.all(
    wanted
      .filter(({ unitsIn }) => unitsIn > 0n)
      .map(async ({ from, to, unitsIn }) => {
        const quote = await readQuote(client, { from, to, unitsIn }, block)
        if (!quote) return undefined
        const { unitsOut, averageUnitsOut } = quote
        const average = averageUnitsOut === undefined ? {} : { averageUnitsOut }
        return { from: from.symbol, to: to.symbol, unitsIn, unitsOut, ...average }
      }),
  )
  return quotes
    .filter((quote) => quote !== undefined)
    .map((quote) => ({ chain: client.chain.name, protocol: SWAP_PROTOCOL, ...quote }))
}

/** Tokens of the chain's markets other than the requested asset. */
function otherTokens({ chain }: ChainClient, asset: Token): Token[] {
  return tokensOf(chain).filter(
    ({ address }) =>
      address !== asset.address && chain.markets.some(({ underlying }) => underlying === address),
  )
}
