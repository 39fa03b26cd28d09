import { QueryRejectedError, WorkflowNotFoundError, type Client } from '@temporalio/client'
import { until } from './stack.js'

const PATIENCE_MS = 10_000

/**
 * The data that the Temporal UI shows of a running workflow: details, status and search attributes. It may appear
 * later than the API's response.
 */
export async function readView(temporal: Client, id: string) {
  const handle = temporal.workflow.getHandle(id)
  const [metadata, { typedSearchAttributes, raw }] = await Promise.all([
    temporal.withDeadline(Date.now() + PATIENCE_MS, () =>
      handle.query<{ currentDetails: string }>('__temporal_workflow_metadata'),
    ),
    handle.describe(),
  ])
  const pairs = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const)
  return {
    details: metadata.currentDetails,
    attributes: Object.fromEntries(pairs) as Record<string, unknown>,
    pending: raw.pendingActivities ?? [],
  }
}
export type WorkflowView = Awaited<ReturnType<typeof readView>>

/** The API responds before the workflow begins, and a new run follows an ended one. */
export async function untilViewed(
  temporal: Client,
  id: string,
  holds: (view: WorkflowView) => boolean,
): Promise<WorkflowView> {
  const read = () =>
    readView(temporal, id).catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError || error instanceof QueryRejectedError)
        return undefined
      throw error
    })
  const view = await until(read, (now) => now !== undefined && holds(now))
  return view as WorkflowView
}

/** Details and search attributes are read concurrently, so they may be of different moments. */
export const isWaiting =
  (text: string, code: string) =>
  ({ details, attributes }: WorkflowView): boolean => {
    const { WaitingFor = [] } = attributes as { WaitingFor?: unknown[] }
    return details.includes(text) && WaitingFor.includes(code)
  }
