import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
} from '@temporalio/client'

/** Name of the one task queue of intents and fundings. */
export const TASK_QUEUE = 'intents'

/** By default a client that was refused for long looks every two minutes whether the server is back. */
const RECONNECT = {
  'grpc.initial_reconnect_backoff_ms': 500,
  'grpc.max_reconnect_backoff_ms': 1_000,
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number]

const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions())
/** A ping wants to know how it is now: it is answered at once, and leaves no retry behind a closed connection. */
const retryAllButPing: Interceptor = (options, nextCall) =>
  options.method_definition.path.endsWith('/DescribeNamespace')
    ? (nextCall(options) as ReturnType<Interceptor>)
    : retry(options, nextCall)

/**
 * A client that connects at its first call, so that a process starts while Temporal is away. Queries of
 * closed workflows are refused by the server instead of replaying them.
 */
export function connectTemporal(address: string, namespace: string): Client {
  const connection = Connection.lazy({
    address,
    channelArgs: RECONNECT,
    interceptors: [retryAllButPing],
  })
  return new Client({
    connection,
    namespace,
    workflow: { queryRejectCondition: 'NOT_OPEN' },
  })
}

/** Resolves when Temporal answers in time and knows the namespace; else throws why not. */
export async function pingTemporal(client: Client, withinMs: number): Promise<void> {
  const { namespace } = client.options
  await client.withDeadline(Date.now() + withinMs, () =>
    client.workflowService.describeNamespace({ namespace }),
  )
}
