import { Client, Connection } from '@temporalio/client'

/** Name of the one task queue of intents and fundings. */
export const TASK_QUEUE = 'intents'

/**
 * A client that connects at its first call, so that a process starts while Temporal is away. Queries of
 * closed workflows are refused by the server instead of replaying them.
 */
export function connectTemporal(address: string, namespace: string): Client {
  const connection = Connection.lazy({ address })
  return new Client({
    connection,
    namespace,
    workflow: { queryRejectCondition: 'NOT_OPEN' },
  })
}
