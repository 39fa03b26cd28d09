import { TypedSearchAttributes, type WorkflowIdConflictPolicy } from '@temporalio/common'
import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client'
import { CALL_MS } from './connect.js'
import { searchAttributes } from './searchAttributes.js'
import type { deliverWebhook } from '../deliverWebhook.js'

/** Task queue of webhook deliveries, separate from that of intents. */
export const DELIVERY_QUEUE = 'delivery'

type DeliveryStart = { deliveryId: bigint; run: number; accountId: string; webhookId: string }

const deliveryWorkflowId = ({ deliveryId, run }: Pick<DeliveryStart, 'deliveryId' | 'run'>) =>
  `whd_${deliveryId}_${run}`

/** Starts the workflow of a delivery run. Safe to repeat, also while the workflow runs or after it has finished. */
export const startDelivery = (client: Client, start: DeliveryStart) =>
  startRun(client, start, 'USE_EXISTING')

/** As `startDelivery`, but terminates a running workflow of the run first. */
export const restartDelivery = (client: Client, start: DeliveryStart) =>
  startRun(client, start, 'TERMINATE_EXISTING')

async function startRun(
  client: Client,
  start: DeliveryStart,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy,
): Promise<void> {
  const { deliveryId, run, accountId, webhookId } = start
  try {
    await client.withDeadline(Date.now() + CALL_MS, () =>
      client.workflow.start<typeof deliverWebhook>('deliverWebhook', {
        workflowId: deliveryWorkflowId(start),
        taskQueue: DELIVERY_QUEUE,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowIdConflictPolicy,
        args: [{ deliveryId: deliveryId.toString(), run }],
        priority: { fairnessKey: webhookId },
        staticSummary: `deliver to ${webhookId}`,
        typedSearchAttributes: new TypedSearchAttributes([
          { key: searchAttributes.accountId, value: accountId },
        ]),
      }),
    )
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
  }
}
