import { ServiceError } from '../../domain/errors.js'
import type { ChainClient } from '../connect.js'

export const SECONDS_PER_YEAR = 31_536_000

/** Above any market of dollars, also in a squeeze. A higher rate is an error of the market or the node. */
const MAX_APY_PERCENT = 1_000

/** APY in percent of a rate per second, compounded each second. */
export function apyPercent(perSecond: number): number {
  return Math.expm1(Math.log1p(perSecond) * SECONDS_PER_YEAR) * 100
}

/** APY in percent of a rate per second that a chain returned; RPC_ERROR above a plausible maximum. */
export function checkedApy({ chain }: ChainClient, perSecond: number): number {
  const apy = apyPercent(perSecond)
  if (apy <= MAX_APY_PERCENT) return apy
  const reason = `its rate is not plausible: above ${MAX_APY_PERCENT} %`
  const details = { chain: chain.name, answered: true, reverted: false, decoded: false, reason }
  throw new ServiceError('RPC_ERROR', `${chain.name} reported an impossible rate.`, details)
}
