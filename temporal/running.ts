import { REQUEST_TIMEOUT_MS } from '../durations.js'
import type { Client } from '@temporalio/client'

/**
 * Those of the given workflows that run now, by one call. The server may look through all that run for it.
 *
 * @param ids - At most 200: some stores take no longer query. Lists are eventually consistent: a workflow that started or
 *   ended within the last seconds may be listed wrongly.
 */
export async function findRunning(client: Client, ids: string[]): Promise<Set<string>> {
  const names = ids.map((id) => `'${id}'`).join(', ')
  const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${names})`
  // A page that is full makes the client ask for another one.
  const pageSize = ids.length + 1
  const running = new Set<string>()
  for await (const { workflowId } of client.workflow.list({ query, pageSize })) {
    running.add(workflowId)
  }
  return running
}

/** As many as servers list at once by default. */
const PAGE = 1_000

/**
 * The ids of all intents' and fundings' workflows that run now: a call for each page. Lists are eventually
 * consistent.
 */
export async function* listRunning(client: Client, pageSize = PAGE): AsyncGenerator<string> {
  const { namespace } = client.options
  const types = `WorkflowType IN ('executeIntent', 'fundWallet')`
  const query = `ExecutionStatus = 'Running' AND ${types}`
  let nextPageToken: Uint8Array | null | undefined
  do {
    // As it comes: what a workflow is listed by is read for each one, and nobody wants it here.
    const request = { namespace, query, pageSize, ...(nextPageToken && { nextPageToken }) }
    const page = await client.withDeadline(Date.now() + REQUEST_TIMEOUT_MS, () =>
      client.workflowService.listWorkflowExecutions(request),
    )
    for (const { execution } of page.executions) yield String(execution?.workflowId)
    nextPageToken = page.nextPageToken
  } while (nextPageToken?.length)
}
