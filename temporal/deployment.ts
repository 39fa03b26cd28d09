import type { Client } from '@temporalio/client'
import type { WorkerDeploymentVersion } from '@temporalio/common'

/** The version of the workers that run these workflows. */
export const versionOf = (buildId: string): WorkerDeploymentVersion => ({
  deploymentName: 'steward',
  buildId,
})

/**
 * Routes new workflows, and the next task of those that may move to newer code, to the workers of this version.
 *
 * @see https://docs.temporal.io/production-deployment/worker-deployments/worker-versioning
 */
export async function setCurrentVersion(
  client: Client,
  version: WorkerDeploymentVersion,
): Promise<void> {
  const { namespace } = client.options
  await client.workflowService.setWorkerDeploymentCurrentVersion({
    ...{ namespace, ...version, identity: 'steward worker' },
    // The worker begins to poll a moment later, and one without a webhook key serves only intents.
    ...{ allowNoPollers: true, ignoreMissingTaskQueues: true },
  })
}
