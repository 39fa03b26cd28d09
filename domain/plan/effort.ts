import { sumKnownUsd } from '../money.js'
import type { ChainState, GasKind } from './market.js'

/** Cost of operations: gas in USD, null when unknown, and a lower and an upper bound of seconds. */
export type Effort = { gasUsd: number | null; seconds: [lower: number, upper: number] }

/** Times up to this bound are given in seconds, longer ones in minutes. */
const MOST_SECONDS = 120

/** The effort of one operation on a chain. */
export function effortOf(chain: ChainState, kind: GasKind): Effort {
  return { gasUsd: chain.gasUsd?.[kind] ?? null, seconds: chain.stepSeconds }
}

export function sumEfforts(efforts: Effort[]): Effort {
  const lower = efforts.reduce((sum, effort) => sum + effort.seconds[0], 0)
  const upper = efforts.reduce((sum, effort) => sum + effort.seconds[1], 0)
  return { gasUsd: sumKnownUsd(efforts.map(({ gasUsd }) => gasUsd)), seconds: [lower, upper] }
}

/** The time as a readable range, e.g. `1-5 seconds` or `14-20 minutes`. */
export function timeText({ seconds: [lower, upper] }: Effort): string {
  if (upper <= MOST_SECONDS) return `${Math.floor(lower)}-${Math.ceil(upper)} seconds`
  return `${Math.max(1, Math.floor(lower / 60))}-${Math.ceil(upper / 60)} minutes`
}
