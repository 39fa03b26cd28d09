import { daysToRecover, netUsd, type Candidate } from './candidates.js'
import { assetText } from '../money.js'
import type { PlanWarning, Step } from '../intent.js'

const YEAR_DAYS = 365
/** A deposit that takes more of the room than this leaves next to none, in percent. */
const NEARLY_FULL_PERCENT = 90n

/**
 * What a caller should know of a lend before.
 *
 * @param ranked - The market that is chosen, and the others that can be reached.
 */
export function lendWarnings(ranked: [Candidate, ...Candidate[]], steps: Step[]): PlanWarning[] {
  return [...notWorthIt(ranked), ...swapWarnings(steps), ...nearlyFull(ranked[0])]
}

/** The assets that a plan changes on its way, each pair once. */
export function swapWarnings(steps: Step[]): PlanWarning[] {
  const messages = steps.flatMap((step) =>
    step.type === 'swap' ? `${step.asset} is swapped to ${step.toAsset} on the way.` : [],
  )
  return [...new Set(messages)].map((message) => ({ code: 'ASSET_CHANGES', message }))
}

/** A way that a year of interest does not pay for: compared with staying, where that earns anything. */
function notWorthIt([best, ...others]: [Candidate, ...Candidate[]]): PlanWarning[] {
  const code = 'NOT_WORTH_IT'
  const year = netUsd(best, YEAR_DAYS)
  if (year < 0) {
    const message = `What it costs is ${-year} USD more than a year there earns.`
    return [{ code, message }]
  }
  const stay = best.transfer && others.find(({ transfer }) => !transfer)
  const days = stay && daysToRecover(best, stay)
  if (!stay || (days !== undefined && days <= YEAR_DAYS)) return []
  const { protocol, chain } = stay.rate
  const message = `The move costs more than it earns within a year, compared with ${protocol} on ${chain}.`
  return [{ code, message }]
}

function nearlyFull({ rate, depositUnits }: Candidate): PlanWarning[] {
  const { roomUnits, asset, protocol, chain } = rate
  if (roomUnits === undefined) return []
  if (depositUnits * 100n <= roomUnits * NEARLY_FULL_PERCENT) return []
  const left = assetText(roomUnits - depositUnits)
  const message = `${protocol} on ${chain} takes only ${left} ${asset} more after this deposit.`
  return [{ code: 'MARKET_NEARLY_FULL', message }]
}

/** For a plan: absent when there is nothing to warn of. */
export const warningsField = (warnings: PlanWarning[]) => (warnings.length > 0 ? { warnings } : {})
