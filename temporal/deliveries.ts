import { TypedSearchAttributes, type WorkflowIdConflictPolicy } from '@temporalio/common'
import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client'
import { CALL_MS } from './connect.js'
import { searchAttributes } from './searchAttributes.js'
import type { deliverWebhook } from '../workflows/deliverWebhook.js'

/** Task queue of webhooks: its workers take nothing from those of intents. */
export const DELIVERY_QUEUE = 'delivery'

type Start = { deliveryId: bigint; run: number; accountId: string; webhookId: string }

const deliveryWorkflowId = ({ deliveryId, run }: Pick<Start, 'deliveryId' | 'run'>) =>
  `whd_${deliveryId}_${run}`

/** Starts the workflow of a run of a delivery. One that is there already, or whose work is done, does no harm. */
export const startDelivery = (client: Client, start: Start) =>
  startBeside(client, start, 'USE_EXISTING')

/** As `startDelivery`, in the place of a workflow that is there. */
export const restartDelivery = (client: Client, start: Start) =>
  startBeside(client, start, 'TERMINATE_EXISTING')

async function startBeside(
  client: Client,
  start: Start,
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
