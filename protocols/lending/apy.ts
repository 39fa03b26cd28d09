import { ServiceError } from '../../domain/errors.js'
import type { ChainClient } from '../../chains/connect.js'

export const SECONDS_PER_YEAR = 31_536_000

/** Far above any market; a node that tells more tells nonsense. */
const MAX_APY_PERCENT = 10_000

/** A rate per second, compounded each second for a year, in percent. */
export function apyPercent(perSecond: number): number {
  return Math.expm1(Math.log1p(perSecond) * SECONDS_PER_YEAR) * 100
}

/**
 * The APY in percent of the rate per second that a chain has told; RPC_ERROR when no market can pay
 * it.
 */
export function checkedApy({ chain }: ChainClient, perSecond: number): number {
  const apy = apyPercent(perSecond)
  if (apy <= MAX_APY_PERCENT) return apy
  throw new ServiceError('RPC_ERROR', `${chain.name} reported an impossible rate.`)
}
