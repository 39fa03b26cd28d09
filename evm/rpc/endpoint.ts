import { readBatch, needsOwnRequest, writeBatch, type JsonRpcCall } from './batch.js'
import { NoAnswer, toNoAnswer, type Reply } from './errors.js'
import { createHealth, type Health, type HealthListener } from './health.js'
import { connectHttp, type HttpPost } from './http.js'
import { createRedaction } from './redact.js'
import type { RpcWaits } from './waits.js'

/** Concurrent requests. Further calls wait and share larger batches. */
const REQUESTS = 32
/** Concurrent requests with a single slow call. The rest stays free for other calls when these hang. */
const ALONE_REQUESTS = 24
/** Most queued calls. A longer queue would exceed the timeout anyway. */
const WAITING_CALLS = 5_000

/** One RPC URL of a chain. */
export type Endpoint = {
  /** Its position in the list of the chain's URLs, from 1. */
  position: number
  health: Health
  /** It serves another chain and is never asked again. */
  isRefused: boolean
  /**
   * Calls of the same tick share one JSON-RPC batch.
   *
   * @param onLate - Called when the answer takes longer than `patienceMs`.
   * @throws {NoAnswer}
   */
  ask(call: JsonRpcCall, onLate?: () => void): Promise<Reply>
  close(): void
}

/** True when it serves the right chain, answers, and does not throttle requests, as far as known. */
export const isWell = ({ isRefused, health }: Endpoint): boolean =>
  !isRefused && !health.isAway() && health.restsUntil() <= Date.now()

type QueuedCall = {
  call: JsonRpcCall
  resolve(reply: Reply): void
  reject(error: NoAnswer): void
  onLate: (() => void) | undefined
}

/** The queue and the running requests of an endpoint. `redact`: removes the URL, which nodes repeat in errors. */
type EndpointQueue = {
  endpoint: Endpoint
  waits: RpcWaits
  http: HttpPost
  redact(text: string): string
  waiting: QueuedCall[]
  timer: NodeJS.Timeout | undefined
  requests: number
  aloneRequests: number
  nextId: number
}

export function createEndpoint(
  url: string,
  position: number,
  { waits, ...listener }: HealthListener & { waits: RpcWaits },
): Endpoint {
  const http = connectHttp(url, waits.timeoutMs)
  const endpoint: Endpoint = {
    ...{ position, health: createHealth(listener, waits), isRefused: false },
    ask: (call, onLate) =>
      new Promise((resolve, reject) => {
        if (queue.waiting.length >= WAITING_CALLS) return reject(new NoAnswer('too many calls'))
        queue.waiting.push({ call, resolve, reject, onLate })
        queue.timer ??= setTimeout(sendWaiting, 0, queue)
      }),
    close: http.close,
  }
  const redact = createRedaction(url)
  const rest = { waiting: [], timer: undefined, requests: 0, aloneRequests: 0, nextId: 1 }
  const queue: EndpointQueue = { endpoint, waits, http, redact, ...rest }
  return endpoint
}

function sendWaiting(queue: EndpointQueue): void {
  queue.timer = undefined
  const waiting = queue.waiting.filter(({ call }) => !call.isSettled)
  // Slow calls go last, so that they do not split the batch of the others.
  const alone = waiting.filter(({ call }) => needsOwnRequest(call))
  queue.waiting = [...waiting.filter(({ call }) => !needsOwnRequest(call)), ...alone]
  while (queue.waiting.length > 0 && queue.requests < REQUESTS) {
    const firstId = queue.nextId
    const calls = queue.waiting.map(({ call }) => call)
    if (calls[0] && needsOwnRequest(calls[0]) && queue.aloneRequests >= ALONE_REQUESTS) return
    const { size, body } = writeBatch(calls, firstId)
    queue.nextId += size
    void exchange(queue, queue.waiting.splice(0, size), { body, firstId })
  }
}

async function exchange(
  queue: EndpointQueue,
  batch: QueuedCall[],
  { body, firstId }: { body: string; firstId: number },
): Promise<void> {
  const { endpoint, http, redact } = queue
  const askedAt = Date.now()
  const stopWatch = watchTime(queue, batch, askedAt)
  const alone = batch.filter(({ call }) => needsOwnRequest(call)).length
  queue.requests += 1
  queue.aloneRequests += alone
  const replies = await http.post(body).then(readBatch).catch(toNoAnswer)
  queue.requests -= 1
  queue.aloneRequests -= alone
  stopWatch()
  recordHealth(endpoint, replies, askedAt)
  batch.forEach(({ resolve, reject }, i) => {
    const reply = replies instanceof Map ? replies.get(firstId + i) : replies
    if (reply instanceof NoAnswer) return reject(reply)
    if (!reply) return reject(new NoAnswer('the batch was answered in part'))
    if ('error' in reply) reply.error.message = redact(reply.error.message)
    resolve(reply)
  })
  if (queue.waiting.length > 0 && !queue.timer) sendWaiting(queue)
}

/** Notifies calls with another endpoint to try when the answer is late. Returns a function that stops the timer. */
function watchTime(
  { endpoint, waits }: EndpointQueue,
  batch: QueuedCall[],
  askedAt: number,
): () => void {
  const hurried = batch.filter(({ onLate }) => onLate)
  if (hurried.length === 0) return () => undefined
  let read: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    // If this process was busy, an answer that has already arrived is read first.
    read = setImmediate(() => {
      endpoint.health.failed(askedAt, 'no answer in time')
      for (const { onLate } of hurried) onLate?.()
    })
  }, waits.patienceMs)
  return () => {
    clearTimeout(timer)
    clearImmediate(read)
  }
}

function recordHealth(
  { health }: Endpoint,
  replies: Map<number, Reply> | NoAnswer,
  askedAt: number,
): void {
  if (replies instanceof Map) return health.answered(askedAt)
  if (replies.restMs !== undefined) health.rest(replies.restMs)
  health.failed(askedAt, replies.reason)
}
