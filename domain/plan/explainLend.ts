import { daysToRecover, netDifferenceMicroUsd, obstacleOf, type Candidate } from './candidates.js'
import { assetText, fromUnits } from '../money.js'
import { bestRate, type Rate } from '../yields.js'
import type { LendRequest } from '../intent/intent.js'
import type { MarketState } from './market.js'

/** Spans up to this bound are given in days. */
const MOST_DAYS = 90n
/** A longer payback time counts as never. */
const MOST_YEARS = 10n
const MONTH_DAYS = 365 / 12

/** All matching markets, reachable or not, and the reachable ones, the best first. */
type LendChoice = { rates: Rate[]; ranked: [Candidate, ...Candidate[]] }

/** Why the first candidate was chosen, as text for people. */
export function explainLend(request: LendRequest, state: MarketState, choice: LendChoice): string {
  const { ranked } = choice
  const [best, next] = ranked
  const sentences = [
    `${nameOf(best.rate)} pays ${percentOf(best.rate)} on ${best.rate.asset}${merit(request, ranked)}.`,
    ...(best.transfer ? explainMove(request, ranked) : []),
    ...(next ? [explainNext(request, best, next)] : []),
    ...explainForeign(request, state, choice),
    ...explainDisabled(request, state),
  ]
  return sentences.join(' ')
}

function merit({ chain, netOverDays }: LendRequest, ranked: Candidate[]): string {
  if (chain) return '; the request names this chain'
  if (ranked.length === 1) return ', the only market that can be reached'
  const of = `of ${ranked.length} that can be reached`
  if (netOverDays === undefined) return `, the best rate ${of}`
  return `, worth most after costs over ${netOverDays} days ${of}`
}

function explainMove(
  request: LendRequest,
  [best, ...others]: [Candidate, ...Candidate[]],
): string[] {
  if (!best.transfer) return []
  const { route, feeUnits, effort } = best.transfer
  const fee = `a bridge fee of ${assetText(feeUnits)} ${request.asset}`
  const gas = effort.gasUsd === null ? 'gas of unknown cost' : `${effort.gasUsd} USD of gas`
  const move = `The money comes from ${route.from} for ${fee} and ${gas}.`
  return request.chain ? [move] : [move, explainRecovery(best, others)]
}

function explainRecovery(best: Candidate, others: Candidate[]): string {
  const stay = others.find(({ transfer }) => !transfer)
  if (!stay) return 'The chain of the money has no open market.'
  if (!best.isPriced) return 'Whether the move pays for itself is unknown.'
  const compared = `Compared with ${nameOf(stay.rate)}, which needs no bridge, the move`
  const days = daysToRecover(best, stay)
  if (days === undefined) return `${compared} does not pay for itself.`
  if (days === 0n) return `${compared} has no extra cost.`
  if (days > MOST_YEARS * 365n) {
    return `${compared} does not pay for itself within ${MOST_YEARS} years at this amount.`
  }
  return `${compared} pays for itself after ${spanText(days)}.`
}

/** A time span as readable text: in days, then in months or years. */
function spanText(days: bigint): string {
  if (days === 1n) return '1 day'
  if (days <= MOST_DAYS) return `${days} days`
  if (days < 2n * 365n) return `about ${Math.round(Number(days) / MONTH_DAYS)} months`
  return `about ${Math.round(Number(days) / 365)} years`
}

const explainNext = (request: LendRequest, best: Candidate, next: Candidate): string =>
  `Next comes ${nameOf(next.rate)}: ${merits(request, best, next)}.`

/** Why another candidate is not the best one, as a clause. */
export function merits({ netOverDays }: LendRequest, best: Candidate, other: Candidate): string {
  if (netOverDays !== undefined && !best.isPriced) return `worth less over ${netOverDays} days`
  if (netOverDays !== undefined) {
    const less = fromUnits(netDifferenceMicroUsd(best, other, netOverDays), 6)
    return `worth ${less} USD less over ${netOverDays} days`
  }
  if (other.rate.apyPercent < best.rate.apyPercent) {
    return `it pays less, ${percentOf(other.rate)}`
  }
  return `it pays the same ${other.cost > best.cost ? 'at a higher cost' : 'at the same cost'}`
}

/** The best market without a route, if it pays more than the chosen one. */
function explainForeign(
  request: LendRequest,
  state: MarketState,
  { rates, ranked }: LendChoice,
): string[] {
  const [{ rate: chosen }] = ranked
  const missed = bestRate(
    rates
      .filter(({ apyPercent }) => apyPercent > chosen.apyPercent)
      .filter((rate) => !ranked.some((candidate) => candidate.rate === rate)),
  )
  if (!missed) return []
  const why = obstacleOf(request, state, missed)
  return [`${nameOf(missed)} pays more, ${percentOf(missed)}, but ${why}.`]
}

/** Disabled and unreadable markets: their rates are unknown. */
function explainDisabled({ chain }: LendRequest, state: MarketState): string[] {
  const { disabled = [], unreadable = [] } = state
  const inQuestion = [...disabled, ...unreadable].filter((part) => !chain || part.chain === chain)
  return inQuestion.map(({ chain: place, protocol, why }) => {
    return `${protocol ? `${protocol} on ${place}` : place} is not offered: ${why}.`
  })
}

const nameOf = ({ protocol, chain }: Rate) => `${protocol} on ${chain}`
const percentOf = ({ apyPercent }: Rate) => `${apyPercent.toFixed(2)} %`
