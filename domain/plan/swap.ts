import { divideUp } from '../money.js'
import type { MarketState, SwapQuote } from './market.js'

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

/** The quote that brings most on the chain, undefined when there is none. Among equals the first one. */
export function findQuote(
  { swaps }: MarketState,
  { chain, from, to }: Pick<SwapQuote, 'chain' | 'from' | 'to'>,
): SwapQuote | undefined {
  return swaps
    .filter((quote) => quote.chain === chain && quote.from === from && quote.to === to)
    .filter(({ unitsIn, unitsOut }) => unitsIn > 0n && unitsOut > 0n)
    .reduce<SwapQuote | undefined>(
      (best, quote) => (best === undefined || bringsMore(quote, best) ? quote : best),
      undefined,
    )
}

const bringsMore = (a: SwapQuote, b: SwapQuote) => a.unitsOut * b.unitsIn > b.unitsOut * a.unitsIn

/** Forecast and minimum of swapping an amount. */
export function swapOf(quote: SwapQuote, amountUnits: bigint): Swap {
  const arrivesUnits = broughtBy(quote, amountUnits)
  // Rounded up: a minimum of zero would protect nothing.
  const minimumUnits = divideUp(arrivesUnits * (10_000n - SLIPPAGE_BPS), 10_000n)
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
