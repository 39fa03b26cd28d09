import { smallest } from '../money.js'
import { outputOf, findQuote, inputFor } from './swap.js'
import type { WithdrawRequest } from '../intent/intent.js'
import type { MarketState, PositionState, SwapQuote } from './market.js'

/** A position to withdraw from. `quote` converts it into the requested asset. */
export type Source = {
  position: PositionState
  quote: SwapQuote | undefined
  apyPercent: number
  /** Output in the requested asset: of the whole position, and of the part that the market can pay out. */
  worthUnits: bigint
  payableUnits: bigint
}

/** `units` of the position's own asset. */
export type Taking = { source: Source; units: bigint; isEverything: boolean }
/** `why` is a clause that ends a sentence. */
export type Choice = { takings: Taking[]; why: string }

/** The positions of the chain: first those in the requested asset, then the larger ones. */
export function findSources({ asset, chain }: WithdrawRequest, state: MarketState): Source[] {
  const positions = state.positions.filter((position) => position.chain === chain)
  const own = positions
    .filter((position) => position.asset === asset)
    .map((position) => sourceOf(state, position, undefined))
  const swapped = positions
    .filter((position) => position.asset !== asset)
    .flatMap((position) => {
      const quote = findQuote(state, { chain, from: position.asset, to: asset })
      return quote ? [sourceOf(state, position, quote)] : []
    })
  return [...own.sort(byPayable), ...swapped.sort(byPayable)]
}

function sourceOf(
  { rates }: MarketState,
  position: PositionState,
  quote: SwapQuote | undefined,
): Source {
  const { chain, protocol, market, asset, availableUnits, liquidityUnits } = position
  const rate = rates.find(
    (one) =>
      one.chain === chain &&
      one.protocol === protocol &&
      one.market === market &&
      one.asset === asset,
  )
  const payable = availableUnits < liquidityUnits ? availableUnits : liquidityUnits
  const output = (units: bigint) => (quote ? outputOf(quote, units) : units)
  return {
    position,
    quote,
    // A market without a known rate is left first.
    apyPercent: rate?.apyPercent ?? 0,
    worthUnits: output(availableUnits),
    payableUnits: output(payable),
  }
}

function byPayable(a: Source, b: Source): number {
  if (a.payableUnits === b.payableUnits) return 0
  return a.payableUnits > b.payableUnits ? -1 : 1
}

export function takeAll(sources: Source[]): Choice {
  const takings = sources.map((source) => {
    return { source, units: source.position.availableUnits, isEverything: true }
  })
  return { takings, why: 'everything is withdrawn' }
}

/**
 * Withdraws at least the amount, with the smallest excess that the swap price allows. A market in which only dust would
 * remain is emptied, where possible.
 *
 * @param sources - Together they can pay at least the amount.
 */
export function takePart(amountUnits: bigint, sources: Source[]): Choice {
  const single = findSingle(amountUnits, sources)
  if (single) {
    const why = `it has the lowest rate of the markets with enough, ${single.apyPercent.toFixed(2)} %`
    return { takings: [takingOf(single, amountUnits)], why }
  }
  const takings: Taking[] = []
  let left = amountUnits
  for (const source of sources) {
    const part = left < source.payableUnits ? left : source.payableUnits
    if (part <= 0n) continue
    const taking = takingOf(source, part)
    takings.push(taking)
    left -= source.quote ? outputOf(source.quote, taking.units) : taking.units
  }
  return { takings, why: 'no single market has enough, the largest come first' }
}

/** The source with the lowest rate that has the whole amount. Swaps are used only when no other source has it. */
function findSingle(amountUnits: bigint, sources: Source[]): Source | undefined {
  const enough = sources.filter(({ payableUnits }) => payableUnits >= amountUnits)
  const own = enough.filter(({ quote }) => !quote)
  return (own.length > 0 ? own : enough).reduce<Source | undefined>(
    (least, source) => (least && least.apyPercent <= source.apyPercent ? least : source),
    undefined,
  )
}

function takingOf(source: Source, partUnits: bigint): Taking {
  const { availableUnits } = source.position
  const units = source.quote ? inputFor(source.quote, partUnits) : partUnits
  const isEverything = canBeEmptied(source) && availableUnits - units <= dustOf(units)
  return { source, units: isEverything ? availableUnits : units, isEverything }
}

/** False while another intent withdraws: the whole position includes the money of that intent. */
export function canBeEmptied({ position }: Source): boolean {
  return !position.isBusy && position.liquidityUnits >= position.availableUnits
}

/** Base units that markets lose by rounding. */
const ROUNDING_UNITS = 10n

/** Rounding dust of an amount: at most 10 base units, and at most a thousandth of the amount. */
export const dustOf = (units: bigint): bigint => smallest(ROUNDING_UNITS, units / 1_000n)
