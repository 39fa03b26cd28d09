import { isGrpcServiceError, type Client } from '@temporalio/client'
import type { WorkerDeploymentVersion } from '@temporalio/common'
import { TASK_QUEUE } from './connect.js'

/** @see https://grpc.io/docs/guides/status-codes/ */
const NOT_FOUND = 5

/** The version of the workers that run these workflows. */
export const versionOf = (buildId: string): WorkerDeploymentVersion => ({
  deploymentName: 'steward',
  buildId,
})

/** Where Temporal routes new workflows, and the next task of those that may move to newer code. */
type Routing = {
  /** Build id of the current version. */
  current?: string
  /** Since when it is, Unix ms to the second. */
  changedMs: number
  /** Whether the version that was asked about has been the current one, and is not any more. */
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
    const own = info?.versionSummaries?.find((one) => one.deploymentVersion?.buildId === buildId)
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

/** Longer than the minute that a poll waits. Temporal lists a worker that has ended for five minutes. */
export const GONE_MS = 90_000
/** `TASK_QUEUE_TYPE_WORKFLOW` */
const WORKFLOW_TASKS = 1

/** Whether a worker of the version has polled for intents within `goneMs`. */
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
    // The worker begins to poll a moment later, and one without a webhook key serves only intents.
    ...{ allowNoPollers: true, ignoreMissingTaskQueues: true },
  })
}
