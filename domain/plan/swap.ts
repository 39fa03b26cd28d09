import { hasDrifted, leastOutput, mostOutput, type PriceLimits } from '../limits.js'
import { ASSET_DECIMALS, assetText, divideUp } from '../money.js'
import { limitsOf, type MarketState, type SwapQuote } from './market.js'

/** A planned swap, in base units of `quote.from` and `quote.to`. */
export type Swap = {
  quote: SwapQuote
  amountUnits: bigint
  arrivesUnits: bigint
  minimumUnits: bigint
}

/**
 * How far a price may move against the wallet between plan and swap, in basis points. Stablecoins stay within this
 * range of each other. A pool outside of it is not safe to trade in.
 */
const SLIPPAGE_BPS = 50n

/** Base units by which the output of a swap may fall short of its forecast. */
export const slippageOf = (units: bigint): bigint => (units * SLIPPAGE_BPS) / 10_000n

type Pair = Pick<SwapQuote, 'chain' | 'from' | 'to'>

/** The quote with the highest output on the chain at a fair price, or undefined. The first of equal quotes wins. */
export function findQuote(state: MarketState, pair: Pair): SwapQuote | undefined {
  return bestOf(quotesOf(state, pair).filter((quote) => !whyUnfair(quote, limitsOf(state))))
}

/** True when a pool swaps the pair, at any price. */
export const isQuoted = (state: MarketState, pair: Pair): boolean =>
  quotesOf(state, pair).length > 0

/** Why `findQuote` returns undefined, as a clause that ends a sentence. */
export function whyNoQuote(state: MarketState, pair: Pair): string {
  const best = bestOf(quotesOf(state, pair))
  const why = best && whyUnfair(best, limitsOf(state))
  return why ?? `there is no swap from ${pair.from} to ${pair.to}`
}

/**
 * Why money in another asset could not be swapped back now, as a clause that ends a sentence. Undefined when it could,
 * and for the asset itself.
 */
export function whyNoReturn(state: MarketState, pair: Pair): string | undefined {
  if (pair.from === pair.to) return undefined
  const back = { chain: pair.chain, from: pair.to, to: pair.from }
  return findQuote(state, back) ? undefined : `${whyNoQuote(state, back)}, on the way back`
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

/** Why a price is unfair, undefined when it is fair. Every asset here is a dollar token. */
function whyUnfair(quote: SwapQuote, limits: PriceLimits): string | undefined {
  const { from, to, unitsIn, unitsOut, averageUnitsOut } = quote
  if (unitsOut < leastOutput(unitsIn, limits)) {
    const price = assetText(outputOf(quote, 10n ** BigInt(ASSET_DECIMALS)))
    return `a swap would return only ${price} ${to} for 1 ${from}`
  }
  if (unitsOut > mostOutput(unitsIn, limits)) {
    const price = assetText(outputOf(quote, 10n ** BigInt(ASSET_DECIMALS)))
    return `a swap would return ${price} ${to} for 1 ${from}, so ${to} is worth less than a dollar`
  }
  if (averageUnitsOut === undefined || !hasDrifted(unitsOut, averageUnitsOut, limits)) {
    return undefined
  }
  return `the price of a swap from ${from} to ${to} has moved in the last minutes`
}

/** Forecast and minimum of a swap at a fair price. */
export function swapOf(quote: SwapQuote, amountUnits: bigint, limits: PriceLimits): Swap {
  const arrivesUnits = outputOf(quote, amountUnits)
  // Rounded up: a minimum of zero would protect nothing.
  const slippedUnits = arrivesUnits - slippageOf(arrivesUnits)
  const leastUnits = leastOutput(amountUnits, limits)
  const minimumUnits = slippedUnits > leastUnits ? slippedUnits : leastUnits
  return { quote, amountUnits, arrivesUnits, minimumUnits }
}

/** Output in base units of `quote.to` for an input in base units of `quote.from`. */
export function outputOf({ unitsIn, unitsOut }: SwapQuote, amountUnits: bigint): bigint {
  return (amountUnits * unitsOut) / unitsIn
}

/** The smallest input in base units of `quote.from` for an output in base units of `quote.to`. */
export function inputFor({ unitsIn, unitsOut }: SwapQuote, unitsToBring: bigint): bigint {
  return divideUp(unitsToBring * unitsIn, unitsOut)
}
