import { findPool, readQuote, swapProtocol } from '../protocols/uniswapV3.js'
import type { ChainClient } from '../chains/connect.js'
import type { Market, Token } from '../chains/registry.js'
import type { IntentRequest } from '../domain/intent.js'
import type { SwapQuote } from '../domain/market.js'

/**
 * What swaps between the asset of a request and the assets of other markets would bring now. A pool that
 * cannot give the amount has no quote.
 *
 * @param holdings - What a withdrawal may take out, in base units.
 */
export async function readQuotes(
  client: ChainClient,
  request: IntentRequest,
  holdings: { market: Market; units: bigint }[],
): Promise<SwapQuote[]> {
  if (request.action === 'bridge' || !client.chain.swap) return []
  const asset = client.chain.tokens.find(({ symbol }) => symbol === request.asset)
  if (!asset) return []
  const wanted = otherTokens(client, asset).map((token) => {
    if (request.action === 'lend') return { from: asset, to: token, units: request.amountUnits }
    const held = holdings.filter(({ market }) => market.underlying === token.address)
    return { from: token, to: asset, units: held.reduce((sum, { units }) => sum + units, 0n) }
  })
  const quotes = await Promise.all(
    wanted.map(({ from, to, units }) => readOne(client, from, to, units).catch(() => undefined)),
  )
  return quotes.filter((quote) => quote !== undefined)
}

/** Tokens of the chain's markets that are another asset. */
function otherTokens({ chain }: ChainClient, asset: Token): Token[] {
  return chain.tokens.filter(
    ({ address }) =>
      address !== asset.address && chain.markets.some(({ underlying }) => underlying === address),
  )
}

async function readOne(
  client: ChainClient,
  from: Token,
  to: Token,
  unitsIn: bigint,
): Promise<SwapQuote | undefined> {
  const pool = findPool(client.chain, from, to)
  if (!pool || unitsIn === 0n) return undefined
  const unitsOut = await readQuote(client, { pool, from, to, unitsIn })
  const chain = client.chain.name
  return { chain, protocol: swapProtocol, from: from.symbol, to: to.symbol, unitsIn, unitsOut }
}
