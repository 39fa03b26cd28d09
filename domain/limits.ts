import { divideUp } from './money.js'
import type { SmallestAmounts } from './smallestAmount.js'

/**
 * Limits on the cost of moving money, in basis points. The planner skips options above a limit. The signer rejects them
 * in any plan.
 */
export type PriceLimits = {
  /**
   * Largest distance of a swap between two dollar tokens from parity, in both directions: a surplus means that the
   * token received is worth less.
   */
  swapLossBps: bigint
  /** Highest deviation of a swap's price from its pool's average of the last minutes. */
  swapDriftBps: bigint
  /** Highest fee of a bridge. */
  bridgeFeeBps: bigint
}

/** Limits on the markets that the planner chooses. Deposits into a market that all lenders leave would be stuck. */
export type LendLimits = {
  /** Highest borrowed part of a market's deposits, in basis points. */
  utilizationBps: bigint
  /** A market has at least this many times the deposit in cash. */
  cashTimes: bigint
}

/** All limits of the planner. `smallest`: absent, any amount is planned. */
export type PlanLimits = PriceLimits & LendLimits & { smallest?: SmallestAmounts }

/**
 * Circle's fast transfers cost 1 to 14 basis points, and a plan allows a fifth above the reported fee.
 * @see https://developers.circle.com/cctp/technical-guide#fees
 */
export const defaultLimits: PlanLimits = {
  swapLossBps: 100n,
  swapDriftBps: 50n,
  bridgeFeeBps: 20n,
  utilizationBps: 9_800n,
  cashTimes: 10n,
}

/** Additional limits of the signer: base units of dollars that may move in 24 hours. Absent: unlimited. */
export type SigningLimits = PriceLimits & {
  /** Per wallet. */
  walletDailyUnits?: bigint | undefined
  /** All wallets and the treasury together. */
  dailyUnits?: bigint | undefined
  /** Payments of the treasury to wallets. */
  fundingDailyUnits?: bigint | undefined
}

const WHOLE_BPS = 10_000n

/** The fewest base units that a swap between dollar tokens with equal decimals must return. */
export const leastOutput = (units: bigint, { swapLossBps }: PriceLimits): bigint =>
  divideUp(units * (WHOLE_BPS - swapLossBps), WHOLE_BPS)

/** The most base units that a swap between dollar tokens with equal decimals may return. */
export const mostOutput = (units: bigint, { swapLossBps }: PriceLimits): bigint =>
  (units * (WHOLE_BPS + swapLossBps)) / WHOLE_BPS

/** The most base units that a bridge may keep. */
export const mostFee = (units: bigint, { bridgeFeeBps }: PriceLimits): bigint =>
  divideUp(units * bridgeFeeBps, WHOLE_BPS)

/** True when an amount deviates from the expected one, in either direction, by more than a price may drift. */
export function hasDrifted(
  units: bigint,
  expectedUnits: bigint,
  { swapDriftBps }: PriceLimits,
): boolean {
  const difference = units > expectedUnits ? units - expectedUnits : expectedUnits - units
  return difference * WHOLE_BPS > expectedUnits * swapDriftBps
}
