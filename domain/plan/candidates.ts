import { effortOf, sumEfforts, type Effort } from './effort.js'
import { ASSET_DECIMALS, assetText, divideUp, largest } from '../money.js'
import { outputOf, findQuote, swapOf, whyNoQuote, whyNoReturn, type Swap } from './swap.js'
import { findTransfer, refusalOf, type Move, type Transfer } from './transfer.js'
import type { LendRequest } from '../intent/intent.js'
import { limitsOf, type ChainState, type MarketState } from './market.js'
import { isOpen, whyIlliquid, type Rate } from '../yields.js'

/** A market that can receive the deposit, and the route of the money to it. */
export type Candidate = {
  rate: Rate
  transfer: Transfer | undefined
  swap: Swap | undefined
  /** Base units of the market's asset that are deposited. */
  depositUnits: bigint
  effort: Effort
  /**
   * Bridge fee, loss of the swap and gas, in 10^-(ASSET_DECIMALS + 6) USD, exact for tokens and gas. Gas of unknown cost
   * counts for no market.
   */
  cost: bigint
  /** False while the price of ETH or USDC is unknown, and with it the cost in USD. */
  isPriced: boolean
  /** Why the deposit might not come out again, as a clause. Absent: the market has enough cash. */
  risk?: string | undefined
}

/** Percent times days per year: divides an APY into a share of the amount per day. */
const DAY_PERCENT = 36_500n

/**
 * The cheapest route to a market with capacity for the amount, or undefined. Money on the market's own chain is
 * preferred, else one other chain supplies the amount, at the lowest bridge fee and gas.
 */
export function findCandidate(
  request: LendRequest,
  state: MarketState,
  rate: Rate,
): Candidate | undefined {
  const target = state.chains.find(({ chain }) => chain === rate.chain)
  if (!target) return undefined
  if (target.availableUnits >= request.amountUnits) {
    return [candidateOver(request, state, { rate, target })].find(hasRoom)
  }
  return holders(request, state)
    .flatMap(({ chain }) => findTransfer(state, moveTo(rate, request, chain)) ?? [])
    .sort((a, b) => compare(transferCost(a), transferCost(b)))
    .map((transfer) => candidateOver(request, state, { rate, target, transfer }))
    .find(hasRoom)
}

/** The transfer of the requested amount from a chain to the market's chain. */
function moveTo({ chain: to }: Rate, { asset, amountUnits }: LendRequest, from: string): Move {
  return { asset, amountUnits, from, to }
}

/** Chains that hold the whole amount. */
export function holders({ amountUnits }: LendRequest, { chains }: MarketState): ChainState[] {
  return chains.filter(({ availableUnits }) => availableUnits >= amountUnits)
}

/** A market, its chain, and the transfer if the money is on another chain. */
type Way = { rate: Rate; target: ChainState; transfer?: Transfer }

function candidateOver(
  { asset, amountUnits }: LendRequest,
  state: MarketState,
  { rate, target, transfer }: Way,
): Candidate | undefined {
  const isSwapped = rate.asset !== asset
  const quote = isSwapped ? findReturnable(state, rate, asset) : undefined
  if (isSwapped && !quote) return undefined
  const arrivesUnits = transfer?.arrivesUnits ?? amountUnits
  const swap = quote && swapOf(quote, arrivesUnits, limitsOf(state))
  const depositUnits = swap?.arrivesUnits ?? arrivesUnits
  if (depositUnits === 0n) return undefined
  const effort = sumEfforts([
    ...(transfer ? [transfer.effort] : []),
    ...(swap ? [effortOf(target, 'swap')] : []),
    effortOf(target, 'deposit'),
  ])
  // Two dollar tokens count as equal: a surplus of one is no gain.
  const lossUnits = largest(arrivesUnits - depositUnits, 0n)
  const cost = costOf(amountUnits - arrivesUnits + lossUnits, effort)
  const risk = whyIlliquid(rate, depositUnits, limitsOf(state))
  return {
    rate,
    transfer,
    swap,
    depositUnits,
    effort,
    cost,
    isPriced: isKnown(effort, state),
    risk,
  }
}

/** The best swap of an asset into the market's asset. */
const findSwap = (state: MarketState, rate: Rate, from: string) =>
  findQuote(state, pairOf(rate, from))

/** The same, if the money could also be swapped back. */
const findReturnable = (state: MarketState, rate: Rate, from: string) =>
  whyNoReturn(state, pairOf(rate, from)) ? undefined : findSwap(state, rate, from)

/** True when a cost in USD can be computed. */
const isKnown = ({ gasUsd }: Effort, { isDollarUnknown = false }: MarketState) =>
  gasUsd !== null && !isDollarUnknown

const pairOf = ({ chain, asset: to }: Rate, from: string) => ({ chain, from, to })

function hasRoom(candidate?: Candidate): candidate is Candidate {
  if (!candidate) return false
  const { depositUnits, rate } = candidate
  return rate.capacityUnits === undefined || depositUnits <= rate.capacityUnits
}

const transferCost = ({ feeUnits, effort }: Transfer) => costOf(feeUnits, effort)

function costOf(lossUnits: bigint, { gasUsd }: Effort): bigint {
  return (
    lossUnits * 10n ** 6n + BigInt(Math.round((gasUsd ?? 0) * 1e6)) * 10n ** BigInt(ASSET_DECIMALS)
  )
}

/** Orders by APY, or by value over the request's days. The cheaper of two equal candidates is first. */
export function ranking({ netOverDays }: LendRequest): (a: Candidate, b: Candidate) => number {
  const value = (candidate: Candidate) =>
    netOverDays === undefined ? candidate.rate.apyPercent : netWorth(candidate, netOverDays)
  return (a, b) => compare(value(b), value(a)) || compare(a.cost, b.cost)
}

/** Simple interest over the given days minus the costs, in 10^-(ASSET_DECIMALS + 6) / 36,500 USD. */
function netWorth(candidate: Candidate, days: number): bigint {
  return dailyInterest(candidate) * BigInt(days) - candidate.cost * DAY_PERCENT
}

/** Difference in net worth, in micro-USD, rounded to zero. Negative when `a` is worth less. */
export function netDifferenceMicroUsd(a: Candidate, b: Candidate, days: number): bigint {
  return (netWorth(a, days) - netWorth(b, days)) / (DAY_PERCENT * 10n ** BigInt(ASSET_DECIMALS))
}

/**
 * Interest of the given days minus the costs, in USD with a resolution of one micro-USD. Undefined while a price is
 * unknown.
 */
export function netUsd(candidate: Candidate, days: number): number | undefined {
  if (!candidate.isPriced) return undefined
  const micro = netWorth(candidate, days) / (DAY_PERCENT * 10n ** BigInt(ASSET_DECIMALS))
  return Number(micro) / 1e6
}

/** Days after which `a` has earned its extra cost over `b`. Undefined when never. */
export function daysToRecover(a: Candidate, b: Candidate): bigint | undefined {
  const dearer = (a.cost - b.cost) * DAY_PERCENT
  if (dearer <= 0n) return 0n
  const more = dailyInterest(a) - dailyInterest(b)
  return more > 0n ? divideUp(dearer, more) : undefined
}

/** Interest of one day in the scale of `netWorth`. The rate counts to a millionth of a percent. */
function dailyInterest({ depositUnits, rate }: Candidate): bigint {
  return depositUnits * BigInt(Math.round(rate.apyPercent * 1e6))
}

/** Why the asset cannot be swapped into the market's asset and back. Undefined when it can, or needs no swap. */
function whyNoSwap(state: MarketState, rate: Rate, from: string): string | undefined {
  if (rate.asset === from) return undefined
  const pair = pairOf(rate, from)
  return findSwap(state, rate, from) ? whyNoReturn(state, pair) : whyNoQuote(state, pair)
}

/** Why `findCandidate` returns undefined or a market at risk, as a clause that ends a sentence. */
export function obstacleOf(request: LendRequest, state: MarketState, rate: Rate): string {
  if (!isOpen(rate)) return 'it accepts no deposits now'
  const why = findCandidate(request, state, rate)?.risk ?? whyNoSwap(state, rate, request.asset)
  if (why) return why
  const sources = holders(request, state)
  if (sources.length === 0) return 'no single chain has the amount'
  const isThere = sources.some(({ chain }) => chain === rate.chain)
  const moves = sources.map(({ chain }) => moveTo(rate, request, chain))
  if (isThere || moves.some((move) => findTransfer(state, move))) {
    return tightnessOf(request, state, rate)
  }
  const refusals = moves.map((move) => refusalOf(state, move))
  const main = refusals.find(({ reason }) => reason !== 'no_route') ?? refusals[0]
  return main?.clause ?? ''
}

/** Why the market cannot receive the deposit although the money can reach it. */
function tightnessOf({ asset, amountUnits }: LendRequest, state: MarketState, rate: Rate): string {
  const { asset: deposited, capacityUnits } = rate
  const quote = findSwap(state, rate, asset)
  const isOutputZero = quote && outputOf(quote, amountUnits) === 0n
  if (isOutputZero || capacityUnits === undefined) return 'the swap would return nothing'
  return `it accepts only ${assetText(capacityUnits)} ${deposited} more`
}

function compare<Value extends bigint | number>(a: Value, b: Value): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
