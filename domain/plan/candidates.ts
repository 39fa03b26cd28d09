import { effortOf, sumEfforts, type Effort } from './effort.js'
import { ASSET_DECIMALS, assetText, divideUp } from '../money.js'
import { broughtBy, findQuote, swapOf, whyNoQuote, type Swap } from './swap.js'
import { findTransfer, refusalOf, type Move, type Transfer } from './transfer.js'
import type { LendRequest } from '../intent.js'
import { limitsOf, type ChainState, type MarketState } from './market.js'
import { isOpen, type Rate } from '../yields.js'

/** A market that can be lent to, and the way of the money to it. */
export type Candidate = {
  rate: Rate
  transfer: Transfer | undefined
  swap: Swap | undefined
  /** Base units of the market's asset that are deposited. */
  depositUnits: bigint
  effort: Effort
  /** Bridge fee, loss of the swap and gas, in 10^-(ASSET_DECIMALS + 6) USD: exact for tokens and for gas. */
  cost: bigint
}

/** Hundredths of a percent, and days of a year: what makes an APY a share of an amount per day. */
const DAY_PERCENT = 36_500n

/**
 * The cheapest way to a market with room for the amount, undefined when there is none: money that lies on
 * its chain, else that of the one other chain from which it comes at the lowest bridge fee and gas.
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

/** The amount of a request on its way from a chain to that of a market. */
function moveTo({ chain: to }: Rate, { asset, amountUnits }: LendRequest, from: string): Move {
  return { asset, amountUnits, from, to }
}

/** The chains that alone have the amount. */
export function holders({ amountUnits }: LendRequest, { chains }: MarketState): ChainState[] {
  return chains.filter(({ availableUnits }) => availableUnits >= amountUnits)
}

/** A market, its chain, and how the money gets there if it is elsewhere. */
type Way = { rate: Rate; target: ChainState; transfer?: Transfer }

function candidateOver(
  { asset, amountUnits }: LendRequest,
  state: MarketState,
  { rate, target, transfer }: Way,
): Candidate | undefined {
  const isSwapped = rate.asset !== asset
  const quote = isSwapped ? findSwap(state, rate, asset) : undefined
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
  const cost = costOf(amountUnits - depositUnits, effort)
  return { rate, transfer, swap, depositUnits, effort, cost }
}

/** The best swap of an asset into what a market takes. */
const findSwap = (state: MarketState, { chain, asset: to }: Rate, from: string) =>
  findQuote(state, { chain, from, to })

function hasRoom(candidate?: Candidate): candidate is Candidate {
  if (!candidate) return false
  const { depositUnits, rate } = candidate
  return rate.roomUnits === undefined || depositUnits <= rate.roomUnits
}

const transferCost = ({ feeUnits, effort }: Transfer) => costOf(feeUnits, effort)

function costOf(lossUnits: bigint, { gasUsd }: Effort): bigint {
  return lossUnits * 10n ** 6n + BigInt(Math.round(gasUsd * 1e6)) * 10n ** BigInt(ASSET_DECIMALS)
}

/** Whichever pays more, or is worth more over the request's days; among equals the cheaper one first. */
export function ranking({ netOverDays }: LendRequest): (a: Candidate, b: Candidate) => number {
  const value = (candidate: Candidate) =>
    netOverDays === undefined ? candidate.rate.apyPercent : netWorth(candidate, netOverDays)
  return (a, b) => compare(value(b), value(a)) || compare(a.cost, b.cost)
}

/** Simple interest over so many days less the costs, in 10^-(ASSET_DECIMALS + 6) / 36,500 USD. */
function netWorth(candidate: Candidate, days: number): bigint {
  return dailyInterest(candidate) * BigInt(days) - candidate.cost * DAY_PERCENT
}

/** Less than zero when `a` is worth less, in micro-USD, rounded to zero. */
export function netDifferenceMicroUsd(a: Candidate, b: Candidate, days: number): bigint {
  return (netWorth(a, days) - netWorth(b, days)) / (DAY_PERCENT * 10n ** BigInt(ASSET_DECIMALS))
}

/** What is left of so many days of interest after the costs, in USD, to the micro-USD. */
export function netUsd(candidate: Candidate, days: number): number {
  const micro = netWorth(candidate, days) / (DAY_PERCENT * 10n ** BigInt(ASSET_DECIMALS))
  return Number(micro) / 1e6
}

/** After how many days `a` has earned what it costs more than `b`; undefined when that is never. */
export function daysToRecover(a: Candidate, b: Candidate): bigint | undefined {
  const dearer = (a.cost - b.cost) * DAY_PERCENT
  if (dearer <= 0n) return 0n
  const more = dailyInterest(a) - dailyInterest(b)
  return more > 0n ? divideUp(dearer, more) : undefined
}

/** Interest of a day in the scale of `netWorth`. The rate counts to a millionth of a percent. */
function dailyInterest({ depositUnits, rate }: Candidate): bigint {
  return depositUnits * BigInt(Math.round(rate.apyPercent * 1e6))
}

/** Why `findCandidate` finds none: a clause that a sentence can end with. */
export function obstacleOf(request: LendRequest, state: MarketState, rate: Rate): string {
  const { asset } = request
  if (!isOpen(rate)) return 'it takes no deposits now'
  if (rate.asset !== asset && !findSwap(state, rate, asset)) {
    return whyNoQuote(state, { chain: rate.chain, from: asset, to: rate.asset })
  }
  const sources = holders(request, state)
  if (sources.length === 0) return 'no chain alone has the amount'
  const isThere = sources.some(({ chain }) => chain === rate.chain)
  const moves = sources.map(({ chain }) => moveTo(rate, request, chain))
  if (isThere || moves.some((move) => findTransfer(state, move))) {
    return tightnessOf(request, state, rate)
  }
  const refusals = moves.map((move) => refusalOf(state, move))
  const telling = refusals.find(({ reason }) => reason !== 'no_route') ?? refusals[0]
  return telling?.clause ?? ''
}

/** Why nothing is deposited though the money gets there. */
function tightnessOf({ asset, amountUnits }: LendRequest, state: MarketState, rate: Rate): string {
  const { asset: taken, roomUnits } = rate
  const quote = findSwap(state, rate, asset)
  const bringsNothing = quote && broughtBy(quote, amountUnits) === 0n
  if (bringsNothing || roomUnits === undefined) return 'the swap would bring nothing'
  return `it takes only ${assetText(roomUnits)} ${taken} more`
}

function compare<Value extends bigint | number>(a: Value, b: Value): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
