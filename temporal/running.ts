import type { Client } from '@temporalio/client'

/** A page of the server is at most 1,000 long; some stores take no longer a query than this many ids make. */
export const LISTED_AT_ONCE = 200
/** A list is a search, dearer than a read by id. */
const LIST_DEADLINE_MS = 10_000

/**
 * Those of the given workflows that run now, by one call.
 *
 * @param ids - At most `LISTED_AT_ONCE`. What was started or has ended within the last seconds may be told
 *   wrongly: lists are eventually consistent.
 */
export async function findRunning(client: Client, ids: string[]): Promise<Set<string>> {
  const names = ids.map((id) => `'${id}'`).join(', ')
  const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${names})`
  // A page that is full makes the client ask for another one.
  const pageSize = ids.length + 1
  return client.withDeadline(Date.now() + LIST_DEADLINE_MS, async () => {
    const running = new Set<string>()
    for await (const { workflowId } of client.workflow.list({ query, pageSize })) {
      running.add(workflowId)
    }
    return running
  })
}

/** The ids of all intents' and fundings' workflows that run now. Lists are eventually consistent. */
export async function* listRunning(client: Client): AsyncGenerator<string> {
  const types = `WorkflowType IN ('executeIntent', 'fundWallet')`
  const query = `ExecutionStatus = 'Running' AND ${types}`
  for await (const { workflowId } of client.workflow.list({ query })) yield workflowId
}
