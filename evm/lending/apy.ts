import { ServiceError } from '../../domain/errors.js'
import type { ChainClient } from '../connect.js'

export const SECONDS_PER_YEAR = 31_536_000

/** Far above any market. A higher rate is an error of the node. */
const MAX_APY_PERCENT = 10_000

/** APY in percent of a rate per second, compounded each second. */
export function apyPercent(perSecond: number): number {
  return Math.expm1(Math.log1p(perSecond) * SECONDS_PER_YEAR) * 100
}

/** APY in percent of a rate per second that a chain returned; RPC_ERROR above a plausible maximum. */
export function checkedApy({ chain }: ChainClient, perSecond: number): number {
  const apy = apyPercent(perSecond)
  if (apy <= MAX_APY_PERCENT) return apy
  throw new ServiceError('RPC_ERROR', `${chain.name} reported an impossible rate.`)
}
