import { sumUsd } from '../money.js'
import type { ChainState, GasKind } from './market.js'

/** What operations take: gas in USD, and between a lower and an upper bound of seconds. */
export type Effort = { gasUsd: number; seconds: [lower: number, upper: number] }

/** Up to here a time is told in seconds, above in minutes. */
const MOST_SECONDS = 120

/** The effort of one operation on a chain. */
export function effortOf(chain: ChainState, kind: GasKind): Effort {
  return { gasUsd: chain.gasUsd[kind], seconds: chain.stepSeconds }
}

export function sumEfforts(efforts: Effort[]): Effort {
  const lower = efforts.reduce((sum, effort) => sum + effort.seconds[0], 0)
  const upper = efforts.reduce((sum, effort) => sum + effort.seconds[1], 0)
  return { gasUsd: sumUsd(efforts.map(({ gasUsd }) => gasUsd)), seconds: [lower, upper] }
}

/** The time as a range for a person to read, e.g. `1-5 seconds` or `14-20 minutes`. */
export function timeText({ seconds: [lower, upper] }: Effort): string {
  if (upper <= MOST_SECONDS) return `${Math.floor(lower)}-${Math.ceil(upper)} seconds`
  return `${Math.max(1, Math.floor(lower / 60))}-${Math.ceil(upper / 60)} minutes`
}
