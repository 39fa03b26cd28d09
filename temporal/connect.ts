import { Client, Connection } from '@temporalio/client'

/** Name of the one task queue of intents and fundings. */
export const TASK_QUEUE = 'intents'

/** By default a client that was refused for long looks every two minutes whether the server is back. */
const RECONNECT = {
  'grpc.initial_reconnect_backoff_ms': 500,
  'grpc.max_reconnect_backoff_ms': 1_000,
}

/**
 * A start, a signal or a ping that Temporal answers later counts as failed. Callers repeat it from their rows: this is
 * below the five seconds for which a claimed start, and the mark of a settled step, are left alone.
 */
export const CALL_MS = 2_000

/**
 * A client that connects at its first call, so that a process starts while Temporal is away. Queries of
 * closed workflows are refused by the server instead of replaying them.
 */
export function connectTemporal(address: string, namespace: string): Client {
  return new Client({
    // Without the SDK's retries, which outlive a closed connection: each caller repeats by itself.
    connection: Connection.lazy({ address, channelArgs: RECONNECT, interceptors: [] }),
    namespace,
    workflow: { queryRejectCondition: 'NOT_OPEN' },
  })
}

/** Resolves when Temporal answers in time and knows the namespace; else throws why not. */
export async function pingTemporal(client: Client): Promise<void> {
  const { namespace } = client.options
  await client.withDeadline(Date.now() + CALL_MS, () =>
    client.workflowService.describeNamespace({ namespace }),
  )
}
