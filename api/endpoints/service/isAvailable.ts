import { pingTemporal } from '../../../temporal/connect.js'
import { atMost } from '../../../timeout.js'
import type { Services } from '../../http/services.js'

/** A dependency that answers later is not there: the answer comes within the second that usual probes allow. */
const PROBE_MS = 900

/** Whether Temporal answers at once. */
export const isTemporalAvailable = (temporal: Services['temporal']): Promise<boolean> =>
  isAvailable(() => pingTemporal(temporal).then(() => true))

/** Whether `check` comes true in time. */
export async function isAvailable(check: () => Promise<boolean>): Promise<boolean> {
  const answer = (async () => check())().catch(() => false)
  return (await atMost(answer, PROBE_MS)) ?? false
}
