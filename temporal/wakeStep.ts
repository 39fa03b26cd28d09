import { isGrpcServiceError, type Client } from '@temporalio/client'

const WAKE_DEADLINE_MS = 2_000
/** `NOT_FOUND` of gRPC: the workflow is over, or its step is. */
const NOT_FOUND = 5

/**
 * Has an activity that waits for its next attempt tried again at once. Told of what is over, it does nothing; what an
 * operator has paused stays paused, and what it was told by its heartbeats stays known.
 *
 * @param activity - Its name.
 * @see https://docs.temporal.io/activity-operations
 */
export async function wakeStep(
  client: Client,
  { workflowId, activity }: { workflowId: string; activity: string },
): Promise<void> {
  const { namespace } = client.options
  try {
    await client.withDeadline(Date.now() + WAKE_DEADLINE_MS, () =>
      client.workflowService.resetActivity({
        namespace,
        execution: { workflowId },
        type: activity,
        keepPaused: true,
      }),
    )
  } catch (error) {
    if (!isGrpcServiceError(error) || Number(error.code) !== NOT_FOUND) throw error
  }
}
