import { alternativesOf } from './alternatives.js'
import { findCandidate, holders, obstacleOf, ranking, type Candidate } from './candidates.js'
import { timeText } from './effort.js'
import { invalidRequest, type ServiceError } from '../errors.js'
import { explainLend } from './explainLend.js'
import { insufficientFunds } from './insufficientFunds.js'
import { bridgeStep, depositStep, numbered, swapStep } from './steps.js'
import { isQuoted } from './swap.js'
import { bestRate, type Rate } from '../yields.js'
import { lendWarnings, warningsField } from './warnings.js'
import type { StepPlan, LendRequest } from '../intent/intent.js'
import type { ChainState, MarketState } from './market.js'

/**
 * Lends on the named chain, or at the highest APY regardless of costs. With `netOverDays`, at the market where the
 * amount is worth most after costs. One chain supplies the money: the market's own if it has enough, else the one with
 * the cheapest transfer.
 *
 * @throws {ServiceError} INSUFFICIENT_FUNDS as documented at `insufficientFunds`, counted over the chains with a route
 *   to a market. INVALID_REQUEST when the asset has no market, or no bridge or swap can move the amount.
 */
export function planLend(request: LendRequest, state: MarketState): StepPlan {
  const rates = state.rates.filter(({ chain }) => !request.chain || chain === request.chain)
  const offers = rates.filter((rate) => accepts(rate, request, state))
  if (offers.length === 0) throw noMarket(request)
  const reached = offers
    .flatMap((rate) => findCandidate(request, state, rate) ?? [])
    .sort(ranking(request))
  const [best, ...others] = withoutRisk(request, reached)
  if (!best) throw outOfReach(request, state, offers)
  const steps = numbered(stepsOf(best, request.asset))
  const alternatives = alternativesOf(request, state, best)
  return {
    strategy: best.transfer ? 'single-bridge' : 'direct-deposit',
    targetChain: best.rate.chain,
    targetProtocol: best.rate.protocol,
    expectedApy: best.rate.apyPercent,
    steps,
    estimatedGasUsd: best.effort.gasUsd,
    estimatedTime: timeText(best.effort),
    reasoning: explainLend(request, state, { rates, ranked: [best, ...others] }),
    ...warningsField(lendWarnings(state, [best, ...others], steps)),
    ...(alternatives.length > 0 ? { alternatives } : {}),
  }
}

/** Without the markets at risk. On a named chain they stay, with a warning, when it has no other one. */
function withoutRisk({ chain }: LendRequest, reached: Candidate[]): Candidate[] {
  const sound = reached.filter(({ risk }) => !risk)
  return sound.length > 0 || !chain ? sound : reached
}

function accepts(rate: Rate, { asset }: LendRequest, state: MarketState): boolean {
  const { chain, asset: to } = rate
  return to === asset || isQuoted(state, { chain, from: asset, to })
}

function stepsOf({ transfer, swap, rate, depositUnits }: Candidate, asset: string) {
  return [
    ...(transfer ? [bridgeStep(asset, transfer)] : []),
    ...(swap ? [swapStep(swap)] : []),
    depositStep(rate, depositUnits),
  ]
}

function noMarket({ asset, chain }: LendRequest): ServiceError {
  const where = chain ?? 'any chain'
  return invalidRequest('chain', `There is no market for ${asset} on ${where}.`)
}

/** Money on chains without a route to a market is listed in `funds`, but does not count. */
function outOfReach(request: LendRequest, state: MarketState, offers: Rate[]): ServiceError {
  const counts = ({ chain }: ChainState, rate: Rate) =>
    chain === rate.chain || isLinked(state, chain, rate.chain)
  const counted = state.chains.filter((chain) => offers.some((rate) => counts(chain, rate)))
  const rich = holders(request, { ...state, chains: counted })
  const blocked = bestRate(offers.filter((rate) => rich.some((chain) => counts(chain, rate))))
  if (!blocked) return insufficientFunds(request, state, counted)
  const obstacle = obstacleOf(request, state, blocked)
  return invalidRequest('amount', `The amount cannot be lent on ${blocked.chain}: ${obstacle}.`)
}

function isLinked({ chains, routes }: MarketState, from: string, to: string): boolean {
  const isKnown = chains.some(({ chain }) => chain === to)
  return isKnown && routes.some((route) => route.from === from && route.to === to)
}
