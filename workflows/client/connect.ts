import { Client, Connection } from '@temporalio/client'

/** Task queue of intents and fundings. */
export const TASK_QUEUE = 'intents'

/** gRPC's default backoff grows to two minutes, which would delay the recovery after an outage. */
const RECONNECT = {
  'grpc.initial_reconnect_backoff_ms': 500,
  'grpc.max_reconnect_backoff_ms': 1_000,
}

/**
 * Deadline of a start, a signal or a ping. Callers retry from their rows. It is below the lease of 5 s on claimed starts
 * and on claimed signals.
 */
export const CALL_MS = 2_000

/**
 * Creates a client that connects at its first call, so that a process starts without Temporal. The server rejects queries
 * of closed workflows instead of replaying them.
 */
export function connectTemporal(address: string, namespace: string): Client {
  return new Client({
    // No interceptors: the SDK's retries outlive a closed connection. Each caller retries itself.
    connection: Connection.lazy({ address, channelArgs: RECONNECT, interceptors: [] }),
    namespace,
    workflow: { queryRejectCondition: 'NOT_OPEN' },
  })
}

/** Resolves when Temporal answers within `CALL_MS` and the namespace exists. Rejects otherwise. */
export async function pingTemporal(client: Client): Promise<void> {
  const { namespace } = client.options
  await client.withDeadline(Date.now() + CALL_MS, () =>
    client.workflowService.describeNamespace({ namespace }),
  )
}
