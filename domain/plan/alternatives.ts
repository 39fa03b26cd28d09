import { findCandidate, netUsd, obstacleOf, ranking, type Candidate } from './candidates.js'
import { merits } from './explainLend.js'
import type { LendRequest, MarketAlternative } from '../intent/intent.js'
import type { MarketState } from './market.js'
import type { Rate } from '../yields.js'

/** The most alternatives of a plan. */
const MOST = 5
const YEAR_DAYS = 365

/** Without a candidate: the market has no route, or is at risk. */
type Option = { rate: Rate; candidate: Candidate | undefined }

/**
 * The other markets: those with a route in the order of the request's ranking, then those without, the highest APY
 * first.
 */
export function alternativesOf(
  request: LendRequest,
  state: MarketState,
  best: Candidate,
): MarketAlternative[] {
  const options = state.rates
    .filter((rate) => rate !== best.rate)
    .map((rate): Option => {
      const candidate = findCandidate(request, state, rate)
      return { rate, candidate: candidate?.risk ? undefined : candidate }
    })
  const rank = ranking(request)
  const reached = options
    .flatMap(({ candidate }) => candidate ?? [])
    .sort(rank)
    .map((candidate) => toAlternative(candidate.rate, whyNot(request, best, candidate), candidate))
  const missed = options
    .filter(({ candidate }) => !candidate)
    .sort((a, b) => b.rate.apyPercent - a.rate.apyPercent)
    .map(({ rate }) => toAlternative(rate, `Not now: ${obstacleOf(request, state, rate)}.`))
  return [...reached, ...missed].slice(0, MOST)
}

function toAlternative(
  { chain, protocol, asset, apyPercent }: Rate,
  why: string,
  candidate?: Candidate,
): MarketAlternative {
  const net = candidate && netUsd(candidate, YEAR_DAYS)
  return {
    ...{ chain, protocol, asset, apy: apyPercent },
    ...(net === undefined ? {} : { netUsd: net }),
    why,
  }
}

function whyNot(request: LendRequest, best: Candidate, other: Candidate): string {
  const { chain } = request
  if (chain && other.rate.chain !== chain) return `The request names ${chain}.`
  const why = merits(request, best, other)
  return `${why.charAt(0).toUpperCase()}${why.slice(1)}.`
}
