import { pingTemporal } from '../../../workflows/client/connect.js'
import { atMost } from '../../../runtime/timeout.js'
import type { Services } from '../../http/services.js'

/** Time limit of a check, milliseconds. Readiness probes usually allow one second. */
const PROBE_MS = 900

/** True when Temporal responds within the time limit. */
export const isTemporalAvailable = (temporal: Services['temporal']): Promise<boolean> =>
  isAvailable(() => pingTemporal(temporal).then(() => true))

/** True when `check` returns true within the time limit. */
export async function isAvailable(check: () => Promise<boolean>): Promise<boolean> {
  const answer = (async () => check())().catch(() => false)
  return (await atMost(answer, PROBE_MS)) ?? false
}
