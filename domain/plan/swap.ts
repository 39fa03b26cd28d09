import { hasDrifted, leastBrought, type PriceLimits } from '../limits.js'
import { ASSET_DECIMALS, assetText, divideUp } from '../money.js'
import { limitsOf, type MarketState, type SwapQuote } from './market.js'

/** Money on its way through a pool, in base units of `quote.from` and `quote.to`. */
export type Swap = {
  quote: SwapQuote
  amountUnits: bigint
  arrivesUnits: bigint
  minimumUnits: bigint
}

/**
 * The most that a price may move against the wallet between plan and swap, in hundredths of a percent.
 * Stablecoins keep closer than this to each other; a pool that does not is not one to trade in now.
 */
const SLIPPAGE_BPS = 50n

type Pair = Pick<SwapQuote, 'chain' | 'from' | 'to'>

/**
 * The quote that brings most on the chain at a fair price, undefined when there is none. Among equals the first
 * one.
 */
export function findQuote(state: MarketState, pair: Pair): SwapQuote | undefined {
  return bestOf(quotesOf(state, pair).filter((quote) => !whyUnfair(quote, limitsOf(state))))
}

/** True when some pool swaps the pair, at whatever price. */
export const isQuoted = (state: MarketState, pair: Pair): boolean =>
  quotesOf(state, pair).length > 0

/** Why `findQuote` finds none: a clause that a sentence can end with. */
export function whyNoQuote(state: MarketState, pair: Pair): string {
  const best = bestOf(quotesOf(state, pair))
  const why = best && whyUnfair(best, limitsOf(state))
  return why ?? `there is no swap from ${pair.from} to ${pair.to}`
}

const quotesOf = ({ swaps }: MarketState, { chain, from, to }: Pair): SwapQuote[] =>
  swaps
    .filter((quote) => quote.chain === chain && quote.from === from && quote.to === to)
    .filter(({ unitsIn, unitsOut }) => unitsIn > 0n && unitsOut > 0n)

const bestOf = (quotes: SwapQuote[]) =>
  quotes.reduce<SwapQuote | undefined>(
    (best, quote) => (best === undefined || bringsMore(quote, best) ? quote : best),
    undefined,
  )

const bringsMore = (a: SwapQuote, b: SwapQuote) => a.unitsOut * b.unitsIn > b.unitsOut * a.unitsIn

/** Why nothing is swapped at this price, undefined when it is fair. Every asset here is a dollar. */
function whyUnfair(quote: SwapQuote, limits: PriceLimits): string | undefined {
  const { from, to, unitsIn, unitsOut, averageUnitsOut } = quote
  if (unitsOut < leastBrought(unitsIn, limits)) {
    const price = assetText(broughtBy(quote, 10n ** BigInt(ASSET_DECIMALS)))
    return `a swap would bring only ${price} ${to} for 1 ${from}`
  }
  if (averageUnitsOut === undefined || !hasDrifted(unitsOut, averageUnitsOut, limits)) {
    return undefined
  }
  return `the price of a swap from ${from} to ${to} has moved in the last minutes`
}

/** Forecast and minimum of swapping an amount at a fair price. */
export function swapOf(quote: SwapQuote, amountUnits: bigint, limits: PriceLimits): Swap {
  const arrivesUnits = broughtBy(quote, amountUnits)
  // Rounded up: a minimum of zero would protect nothing.
  const slippedUnits = divideUp(arrivesUnits * (10_000n - SLIPPAGE_BPS), 10_000n)
  const leastUnits = leastBrought(amountUnits, limits)
  const minimumUnits = slippedUnits > leastUnits ? slippedUnits : leastUnits
  return { quote, amountUnits, arrivesUnits, minimumUnits }
}

/** Base units of `quote.to` that so many of `quote.from` bring. */
export function broughtBy({ unitsIn, unitsOut }: SwapQuote, amountUnits: bigint): bigint {
  return (amountUnits * unitsOut) / unitsIn
}

/** The fewest base units of `quote.from` that bring so many of `quote.to`. */
export function neededFor({ unitsIn, unitsOut }: SwapQuote, unitsToBring: bigint): bigint {
  return divideUp(unitsToBring * unitsIn, unitsOut)
}
