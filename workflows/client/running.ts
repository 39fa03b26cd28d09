import { REQUEST_TIMEOUT_MS } from '../../runtime/durations.js'
import type { Client } from '@temporalio/client'

/**
 * The ids of those given workflows that are running, by one query. The server may scan all running workflows for it.
 * Listings are eventually consistent: a start or an end within the last seconds may be missing.
 *
 * @param ids - At most 200, because some visibility stores limit the length of a query.
 */
export async function findRunning(client: Client, ids: string[]): Promise<Set<string>> {
  const names = ids.map((id) => `'${id}'`).join(', ')
  const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${names})`
  // A full page would make the client request another one.
  const pageSize = ids.length + 1
  const running = new Set<string>()
  for await (const { workflowId } of client.workflow.list({ query, pageSize })) {
    running.add(workflowId)
  }
  return running
}

/** The default page limit of the server. */
const PAGE = 1_000

/**
 * The ids of all running workflows of intents and fundings, with one call per page. Listings are eventually consistent.
 */
export async function* listRunning(client: Client, pageSize = PAGE): AsyncGenerator<string> {
  const { namespace } = client.options
  const types = `WorkflowType IN ('executeIntent', 'fundWallet')`
  const query = `ExecutionStatus = 'Running' AND ${types}`
  let nextPageToken: Uint8Array | null | undefined
  do {
    // The raw call: the client's `list` decodes the search attributes of each workflow, which are not needed here.
    const request = { namespace, query, pageSize, ...(nextPageToken && { nextPageToken }) }
    const page = await client.withDeadline(Date.now() + REQUEST_TIMEOUT_MS, () =>
      client.workflowService.listWorkflowExecutions(request),
    )
    for (const { execution } of page.executions) yield String(execution?.workflowId)
    nextPageToken = page.nextPageToken
  } while (nextPageToken?.length)
}
