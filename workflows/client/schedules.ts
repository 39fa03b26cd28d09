import { ScheduleAlreadyRunning, type Client } from '@temporalio/client'
import { TASK_QUEUE } from './connect.js'
import type { snapshotYields } from '../snapshotYields.js'

type SnapshotYields = typeof snapshotYields

/** Rates over time, for `GET /v1/yields/history`. Past rates cannot be read later, so missed runs are skipped. */
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

/** Creates or updates the schedules. A new schedule triggers immediately. */
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
