import { divideUp } from './money.js'

/**
 * What money may cost on its way, in basis points. The planner passes over what costs more, and the signer refuses it
 * whatever a plan says.
 */
export type PriceLimits = {
  /** The most that a swap of one dollar for another may lose against parity. */
  swapLossBps: bigint
  /** The most that a swap's price may be away from its pool's average of the last minutes. */
  swapDriftBps: bigint
  /** The most that a bridge may keep of an amount. */
  bridgeFeeBps: bigint
}

/**
 * Circle's fast transfers cost 1 to 14 basis points, and a plan allows a fifth more than it was told.
 * @see https://developers.circle.com/cctp/technical-guide#fees
 */
export const defaultLimits: PriceLimits = {
  swapLossBps: 100n,
  swapDriftBps: 50n,
  bridgeFeeBps: 20n,
}

/** What the signer keeps to besides: base units of dollars that may be moved in 24 hours. Absent: any number. */
export type SigningLimits = PriceLimits & {
  /** By one wallet. */
  walletDailyUnits?: bigint | undefined
  /** By all of them and the treasury together. */
  dailyUnits?: bigint | undefined
}

const WHOLE_BPS = 10_000n

/** The fewest base units that a swap between dollars of the same decimals must bring. */
export const leastBrought = (units: bigint, { swapLossBps }: PriceLimits): bigint =>
  divideUp(units * (WHOLE_BPS - swapLossBps), WHOLE_BPS)

/** The most base units that a bridge may keep. */
export const mostFee = (units: bigint, { bridgeFeeBps }: PriceLimits): bigint =>
  divideUp(units * bridgeFeeBps, WHOLE_BPS)

/** True when an amount is further from what was expected than a price may drift, to either side. */
export function hasDrifted(
  units: bigint,
  expectedUnits: bigint,
  { swapDriftBps }: PriceLimits,
): boolean {
  const difference = units > expectedUnits ? units - expectedUnits : expectedUnits - units
  return difference * WHOLE_BPS > expectedUnits * swapDriftBps
}
