import { daysToRecover, netDifferenceMicroUsd, obstacleOf, type Candidate } from './candidates.js'
import { assetText, fromUnits } from '../money.js'
import { bestRate, type Rate } from '../yields.js'
import type { LendRequest } from '../intent.js'
import type { MarketState } from './market.js'

/** Up to here a span is told in days; after so many years nobody waits any more. */
const MOST_DAYS = 90n
const MOST_YEARS = 10n
const MONTH_DAYS = 365 / 12

/**
 * The markets in question, whether or not they can be reached, and those that can be, the best one first.
 */
type Choice = { rates: Rate[]; ranked: [Candidate, ...Candidate[]] }

/** Why the first of the candidates was taken, for a person to read. */
export function explainLend(request: LendRequest, state: MarketState, choice: Choice): string {
  const { ranked } = choice
  const [best, next] = ranked
  const sentences = [
    `${nameOf(best.rate)} pays ${percentOf(best.rate)} on ${best.rate.asset}${merit(request, ranked)}.`,
    ...(best.transfer ? explainMove(request, ranked) : []),
    ...(next ? [explainNext(request, best, next)] : []),
    ...explainMissed(request, state, choice),
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
  const move = `The money comes from ${route.from} for ${fee} and ${effort.gasUsd} USD of gas.`
  return request.chain ? [move] : [move, explainRecovery(best, others)]
}

function explainRecovery(best: Candidate, others: Candidate[]): string {
  const stay = others.find(({ transfer }) => !transfer)
  if (!stay) return 'Nothing pays where the money is.'
  const compared = `Compared with ${nameOf(stay.rate)}, which needs no bridge, the move`
  const days = daysToRecover(best, stay)
  if (days === undefined) return `${compared} does not pay for itself.`
  if (days === 0n) return `${compared} costs nothing more.`
  if (days > MOST_YEARS * 365n) {
    return `${compared} does not pay for itself within ${MOST_YEARS} years at this amount.`
  }
  return `${compared} has paid for itself after ${spanText(days)}.`
}

/** A time for a person to read: to the day while days matter, then about so many months or years. */
function spanText(days: bigint): string {
  if (days === 1n) return '1 day'
  if (days <= MOST_DAYS) return `${days} days`
  if (days < 2n * 365n) return `about ${Math.round(Number(days) / MONTH_DAYS)} months`
  return `about ${Math.round(Number(days) / 365)} years`
}

const explainNext = (request: LendRequest, best: Candidate, next: Candidate): string =>
  `Next comes ${nameOf(next.rate)}: ${merits(request, best, next)}.`

/** Why another candidate is not the best one: a clause. */
export function merits({ netOverDays }: LendRequest, best: Candidate, other: Candidate): string {
  if (netOverDays !== undefined) {
    const less = fromUnits(netDifferenceMicroUsd(best, other, netOverDays), 6)
    return `worth ${less} USD less over ${netOverDays} days`
  }
  if (other.rate.apyPercent < best.rate.apyPercent) {
    return `it pays less, ${percentOf(other.rate)}`
  }
  return `it pays the same ${other.cost > best.cost ? 'at a higher cost' : 'at the same cost'}`
}

/** The best-paying market of those that would have paid more, had there been a way to it. */
function explainMissed(
  request: LendRequest,
  state: MarketState,
  { rates, ranked }: Choice,
): string[] {
  const [{ rate: taken }] = ranked
  const missed = bestRate(
    rates
      .filter(({ apyPercent }) => apyPercent > taken.apyPercent)
      .filter((rate) => !ranked.some((candidate) => candidate.rate === rate)),
  )
  if (!missed) return []
  const why = obstacleOf(request, state, missed)
  return [`${nameOf(missed)} pays more, ${percentOf(missed)}, but ${why}.`]
}

/** What was not looked at, of which nobody can tell what it would have paid. */
function explainDisabled({ chain }: LendRequest, { disabled = [] }: MarketState): string[] {
  const inQuestion = disabled.filter((part) => !chain || part.chain === chain)
  return inQuestion.map(({ chain: place, protocol, why }) => {
    return `${protocol ? `${protocol} on ${place}` : place} is not offered: ${why}.`
  })
}

const nameOf = ({ protocol, chain }: Rate) => `${protocol} on ${chain}`
const percentOf = ({ apyPercent }: Rate) => `${apyPercent.toFixed(2)} %`
