import { ASSET_DECIMALS } from '../money.js'
import { broughtBy, findQuote, neededFor } from './swap.js'
import type { WithdrawRequest } from '../intent.js'
import type { MarketState, PositionState, SwapQuote } from './market.js'

/** A position that money can be taken out of. `quote` turns it into the request's asset. */
export type Source = {
  position: PositionState
  quote: SwapQuote | undefined
  apyPercent: number
  /** What it brings of the request's asset: all of it, and as much of it as the market can pay out. */
  worthUnits: bigint
  payableUnits: bigint
}

/** `units` of the position's own asset. */
export type Taking = { source: Source; units: bigint; isEverything: boolean }
/** `why` is a clause that a sentence can end with. */
export type Choice = { takings: Taking[]; why: string }

/** The positions of the chain: those of the request's own asset first, then the larger one first. */
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
  const brought = (units: bigint) => (quote ? broughtBy(quote, units) : units)
  return {
    position,
    quote,
    // A market that tells no rate is the first one to leave.
    apyPercent: rate?.apyPercent ?? 0,
    worthUnits: brought(availableUnits),
    payableUnits: brought(payable),
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
  return { takings, why: 'everything is taken' }
}

/**
 * At least the amount, by as few base units more as a swap's price allows. A market in which only dust
 * would stay behind is emptied, if that can be.
 *
 * @param sources - Pay at least the amount together.
 */
export function takePart(amountUnits: bigint, sources: Source[]): Choice {
  const single = findSingle(amountUnits, sources)
  if (single) {
    const why = `it pays least of those that have enough, ${single.apyPercent.toFixed(2)} %`
    return { takings: [takingOf(single, amountUnits)], why }
  }
  const takings: Taking[] = []
  let left = amountUnits
  for (const source of sources) {
    const part = left < source.payableUnits ? left : source.payableUnits
    if (part <= 0n) continue
    const taking = takingOf(source, part)
    takings.push(taking)
    left -= source.quote ? broughtBy(source.quote, taking.units) : taking.units
  }
  return { takings, why: 'no market alone has enough, the largest come first' }
}

/** Of those that have the amount alone the one that pays least, swapped ones only if there is no other. */
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
  const units = source.quote ? neededFor(source.quote, partUnits) : partUnits
  const isEverything = canBeEmptied(source) && availableUnits - units <= dustOf(availableUnits)
  return { source, units: isEverything ? availableUnits : units, isEverything }
}

/** While another intent takes money out, everything is more than is there for this one. */
export function canBeEmptied({ position }: Source): boolean {
  return !position.isBusy && position.liquidityUnits >= position.availableUnits
}

/** What is not worth leaving behind: a hundredth of a token, and at most a hundredth of the whole. */
export function dustOf(wholeUnits: bigint): bigint {
  const cent = 10n ** BigInt(ASSET_DECIMALS) / 100n
  return wholeUnits / 100n < cent ? wholeUnits / 100n : cent
}
