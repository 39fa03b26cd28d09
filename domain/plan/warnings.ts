import { daysToRecover, netUsd, type Candidate } from './candidates.js'
import { assetText } from '../money.js'
import type { Effort } from './effort.js'
import type { MarketState } from './market.js'
import type { PlanningWarning, PlanStep } from '../intent/intent.js'

const YEAR_DAYS = 365
/** Share of the market's capacity, in percent, above which a deposit leaves it nearly full. */
const NEARLY_FULL_PERCENT = 90n

/**
 * Warnings about a lend, for the caller to read before execution.
 *
 * @param ranked - The chosen market, and the other reachable ones.
 */
export function lendWarnings(
  state: MarketState,
  ranked: [Candidate, ...Candidate[]],
  steps: PlanStep[],
): PlanningWarning[] {
  const [best] = ranked
  return [
    ...costWarnings(best.effort, state),
    ...notWorthIt(ranked),
    ...swapWarnings(steps),
    ...nearlyFull(best),
    ...atRisk(best),
  ]
}

/** Warns about each pair of assets that a plan swaps. */
export function swapWarnings(steps: PlanStep[]): PlanningWarning[] {
  const messages = steps.flatMap((step) =>
    step.type === 'swap' ? `${step.asset} is swapped to ${step.toAsset} on the way.` : [],
  )
  return [...new Set(messages)].map((message) => ({ code: 'ASSET_CHANGES', message }))
}

/** Warns when a year of interest does not cover the costs, compared with staying where that earns interest. */
function notWorthIt([best, ...others]: [Candidate, ...Candidate[]]): PlanningWarning[] {
  const code = 'NOT_WORTH_IT'
  const year = netUsd(best, YEAR_DAYS)
  if (year === undefined) return []
  if (year < 0) {
    const message = `The costs exceed the interest of a year by ${-year} USD.`
    return [{ code, message }]
  }
  const stay = best.transfer && others.find(({ transfer }) => !transfer)
  const days = stay && daysToRecover(best, stay)
  if (!stay || (days !== undefined && days <= YEAR_DAYS)) return []
  const { protocol, chain } = stay.rate
  const message = `The move costs more than it earns within a year, compared with ${protocol} on ${chain}.`
  return [{ code, message }]
}

function nearlyFull({ rate, depositUnits }: Candidate): PlanningWarning[] {
  const { capacityUnits, asset, protocol, chain } = rate
  if (capacityUnits === undefined) return []
  if (depositUnits * 100n <= capacityUnits * NEARLY_FULL_PERCENT) return []
  const left = assetText(capacityUnits - depositUnits)
  const message = `${protocol} on ${chain} accepts only ${left} ${asset} more after this deposit.`
  return [{ code: 'MARKET_NEARLY_FULL', message }]
}

/** Warns about the only market of a named chain. Elsewhere, a market at risk is not chosen. */
function atRisk({ rate: { protocol, chain }, risk }: Candidate): PlanningWarning[] {
  if (!risk) return []
  const message = `The deposit may not be withdrawable from ${protocol} on ${chain}: ${risk}.`
  return [{ code: 'LOW_LIQUIDITY', message }]
}

/** Warns when costs could not be counted in USD. */
export function costWarnings(
  { gasUsd }: Effort,
  { isDollarUnknown = false }: MarketState,
): PlanningWarning[] {
  const code = 'COSTS_UNKNOWN'
  const ofEth = 'The price of ETH is unknown, so gas is not counted.'
  const ofUsdc = 'The price of USDC is unknown or not that of a dollar, so costs are in USDC only.'
  return [
    ...(gasUsd === null ? [{ code, message: ofEth } as const] : []),
    ...(isDollarUnknown ? [{ code, message: ofUsdc } as const] : []),
  ]
}

/** The optional field of a plan. Absent without warnings. */
export const warningsField = (warnings: PlanningWarning[]) =>
  warnings.length > 0 ? { warnings } : {}
