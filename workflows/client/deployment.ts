import { isGrpcServiceError, type Client } from '@temporalio/client'
import type { WorkerDeploymentVersion } from '@temporalio/common'
import { TASK_QUEUE } from './connect.js'

/** @see https://grpc.io/docs/guides/status-codes/ */
const NOT_FOUND = 5

/** The worker deployment version of a build. */
export const versionOf = (buildId: string): WorkerDeploymentVersion => ({
  deploymentName: 'steward',
  buildId,
})

/** Where Temporal routes new workflows, and the next tasks of auto-upgrade workflows. */
type Routing = {
  /** Build id of the current version. */
  current?: string
  /** When it became current, Unix time in ms with a precision of a second. */
  changedMs: number
  /** Whether the requested version was current before and is not now. */
  wasReplaced: boolean
  /** Changes with each change of the routing. */
  conflictToken?: Uint8Array
}

const secondsOf = (time: { seconds?: unknown } | null | undefined) => Number(time?.seconds ?? 0)

/** @see https://docs.temporal.io/production-deployment/worker-deployments/worker-versioning */
export async function readRouting(
  client: Client,
  { deploymentName, buildId }: WorkerDeploymentVersion,
): Promise<Routing> {
  const { namespace } = client.options
  try {
    const { workerDeploymentInfo: info, conflictToken } =
      await client.workflowService.describeWorkerDeployment({ namespace, deploymentName })
    const { currentDeploymentVersion, currentVersionChangedTime } = info?.routingConfig ?? {}
    const current = currentDeploymentVersion?.buildId
    const own = info?.versionSummaries?.find(
      (summary) => summary.deploymentVersion?.buildId === buildId,
    )
    const wasReplaced = current !== buildId && Boolean(own?.lastDeactivationTime)
    const changedMs = secondsOf(currentVersionChangedTime) * 1_000
    return { ...(current && { current }), changedMs, wasReplaced, conflictToken }
  } catch (error) {
    // No worker has polled yet.
    if (isGrpcServiceError(error) && Number(error.code) === NOT_FOUND)
      return { wasReplaced: false, changedMs: 0 }
    throw error
  }
}

/** Longer than a poll, which waits for a minute. Temporal lists a stopped worker for five minutes. */
export const GONE_MS = 90_000
/** `TASK_QUEUE_TYPE_WORKFLOW` */
const WORKFLOW_TASKS = 1

/** Whether a worker of the version has polled the task queue of intents within `goneMs`. */
export async function isPolled(client: Client, buildId: string, goneMs: number): Promise<boolean> {
  const { namespace } = client.options
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: TASK_QUEUE },
    taskQueueType: WORKFLOW_TASKS,
  })
  return pollers.some(({ deploymentOptions, lastAccessTime }) => {
    const polledMs = secondsOf(lastAccessTime) * 1_000
    return deploymentOptions?.buildId === buildId && polledMs > Date.now() - goneMs
  })
}

/** @throws when the routing has changed since `conflictToken` was read. */
export async function setCurrentVersion(
  client: Client,
  version: WorkerDeploymentVersion,
  conflictToken?: Uint8Array,
): Promise<void> {
  const { namespace } = client.options
  await client.workflowService.setWorkerDeploymentCurrentVersion({
    ...{ namespace, ...version, identity: 'steward worker' },
    ...(conflictToken && { conflictToken }),
    // The worker polls only afterwards. A worker without a webhook key polls only the queue of intents.
    ...{ allowNoPollers: true, ignoreMissingTaskQueues: true },
  })
}
