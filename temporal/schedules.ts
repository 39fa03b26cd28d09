import { ScheduleAlreadyRunning, type Client } from '@temporalio/client'
import { TASK_QUEUE } from './connect.js'
import type { snapshotYields } from '../workflows/snapshotYields.js'

type SnapshotYields = typeof snapshotYields

/** Rates over time, for `GET /v1/yields/history`. What was missed is gone: there is nothing to catch up. */
const snapshots = {
  scheduleId: 'snapshot-yields',
  spec: { intervals: [{ every: '5 minutes' as const }] },
  action: {
    type: 'startWorkflow' as const,
    workflowType: 'snapshotYields',
    workflowId: 'snapshot-yields',
    taskQueue: TASK_QUEUE,
    args: [] as [],
  },
  policies: { overlap: 'SKIP' as const, catchupWindow: '1 minute' as const },
}

/** Makes sure that the schedules are there as this code wants them. A new one runs once at once. */
export async function ensureSchedules(client: Client): Promise<void> {
  try {
    await client.schedule.create<SnapshotYields>({
      ...snapshots,
      state: { triggerImmediately: true },
    })
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error
    await client.schedule
      .getHandle(snapshots.scheduleId)
      .update<SnapshotYields>((known) => ({ ...known, ...snapshots }))
  }
}
