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

/**
 * For so long a call of a method is tried, where its caller says nothing else:
 * - a start: the row is durable before, so that one which is late is made again;
 * - a query: the row says nearly as much as the workflow, so that a reader waits no longer for it;
 * - a ping: a server that answers later cannot be worked with;
 * - a list: it is a search, dearer than a read by id.
 *
 * What the API calls has no other deadline: `withDeadline` keeps it in a context that Node hands on from promise to
 * promise, and has it follow every promise of its process from then on, those of requests too.
 */
const DEADLINES_MS = new Map([
  ['StartWorkflowExecution', 1_500],
  ['QueryWorkflow', 400],
  ['DescribeNamespace', 2_000],
  ['ListWorkflowExecutions', 10_000],
])

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number]

const methodOf = ({ method_definition: { path } }: Parameters<Interceptor>[0]) =>
  path.slice(path.lastIndexOf('/') + 1)

const inTime: Interceptor = (options, nextCall) => {
  const withinMs = DEADLINES_MS.get(methodOf(options))
  const deadline = options.deadline ?? (withinMs && Date.now() + withinMs)
  return nextCall({ ...options, ...(deadline && { deadline }) }) as ReturnType<Interceptor>
}

const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions())
/** A ping wants to know how it is now: it is answered at once, and leaves no retry behind a closed connection. */
const retryAllButPing: Interceptor = (options, nextCall) =>
  methodOf(options) === 'DescribeNamespace'
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
    interceptors: [inTime, retryAllButPing],
    metadata: { 'temporal-namespace': namespace },
  })
  // The namespace is all that the SDK would add to a call, and it would do so as `withDeadline` does.
  connection.withMetadata = (_namespace, call) => call()
  return new Client({
    connection,
    namespace,
    workflow: { queryRejectCondition: 'NOT_OPEN' },
  })
}

/** Resolves when Temporal answers in time and knows the namespace; else throws why not. */
export async function pingTemporal(client: Client): Promise<void> {
  const { namespace } = client.options
  await client.workflowService.describeNamespace({ namespace })
}
