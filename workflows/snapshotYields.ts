import { proxyActivities } from '@temporalio/workflow'
import type { Activities } from '../activities/index.js'

/** The timeout ends before the next snapshot is due. */
const { recordYields } = proxyActivities<Activities>({
  startToCloseTimeout: '20s',
  scheduleToCloseTimeout: '4m',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '30s' },
})

/** Stores the current rates of all markets. A schedule starts it every 5 minutes. */
export async function snapshotYields(): Promise<{ recorded: number; unavailable: string[] }> {
  return recordYields({ takenAt: new Date().toISOString() })
}
