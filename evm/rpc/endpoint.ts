import {
  createBatchLimit,
  needsOwnRequest,
  readBatch,
  writeBatch,
  type CallAnswer,
  type JsonRpcCall,
} from './batch.js'
import { BatchRefused, NoAnswer, toNoAnswer, type Reply } from './errors.js'
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
  /** The most calls in one request that it is known to accept. */
  mostCalls(): number
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
  limit: ReturnType<typeof createBatchLimit>
}

export function createEndpoint(
  url: string,
  position: number,
  { waits, ...listener }: HealthListener & { waits: RpcWaits },
): Endpoint {
  const http = connectHttp(url, waits.timeoutMs)
  const limit = createBatchLimit()
  const endpoint: Endpoint = {
    ...{ position, health: createHealth(listener, waits), isRefused: false },
    ask: (call, onLate) =>
      new Promise((resolve, reject) => {
        if (queue.waiting.length >= WAITING_CALLS) return reject(new NoAnswer('too many calls'))
        queue.waiting.push({ call, resolve, reject, onLate })
        queue.timer ??= setTimeout(sendWaiting, 0, queue)
      }),
    mostCalls: limit.most,
    close: http.close,
  }
  const redact = createRedaction(url)
  const rest = { waiting: [], timer: undefined, requests: 0, aloneRequests: 0, nextId: 1 }
  const queue: EndpointQueue = { endpoint, waits, http, redact, limit, ...rest }
  return endpoint
}

function sendWaiting(queue: EndpointQueue): void {
  queue.timer = undefined
  const waiting = queue.waiting.filter(({ call }) => !call.isSettled)
  // Slow calls go last, so that they do not split the batch of the others.
  const alone = waiting.filter(({ call }) => needsOwnRequest(call))
  queue.waiting = [...waiting.filter(({ call }) => !needsOwnRequest(call)), ...alone]
  while (queue.waiting.length > 0 && queue.requests < REQUESTS) {
    const calls = queue.waiting.map(({ call }) => call)
    if (calls[0] && needsOwnRequest(calls[0]) && queue.aloneRequests >= ALONE_REQUESTS) return
    const { size } = writeBatch(calls, { firstId: queue.nextId, most: queue.limit.most() })
    void deliver(queue, queue.waiting.splice(0, size))
  }
}

/** Gets the answers to a batch. Calls that the endpoint refused only because of their number wait again. */
async function deliver(queue: EndpointQueue, batch: QueuedCall[]): Promise<void> {
  const alone = batch.filter(({ call }) => needsOwnRequest(call)).length
  queue.requests += 1
  queue.aloneRequests += alone
  const left = await exchange(queue, batch)
  queue.waiting.unshift(...left)
  queue.requests -= 1
  queue.aloneRequests -= alone
  if (queue.waiting.length > 0 && !queue.timer) sendWaiting(queue)
}

/**
 * Sends a batch in one request. While it is refused, its first half is sent instead, down to one call. An endpoint that
 * refuses even one call has failed.
 *
 * @returns The calls that were left out.
 */
async function exchange(queue: EndpointQueue, batch: QueuedCall[]): Promise<QueuedCall[]> {
  const { endpoint, limit } = queue
  let sent = batch
  for (;;) {
    const askedAt = Date.now()
    const answers = await post(queue, sent, askedAt)
    if (answers instanceof BatchRefused && sent.length > 1) {
      sent = sent.slice(0, Math.ceil(sent.length / 2))
      continue
    }
    recordHealth(endpoint, answers, askedAt)
    if (answers instanceof NoAnswer) {
      for (const { reject } of batch) reject(answers)
      return []
    }
    const missing = sent.filter((_call, i) => answers[i] === undefined)
    const answered = sent.length - missing.length
    if (answered < batch.length) limit.refused(answered)
    else limit.answered(answered)
    sent.forEach((call, i) => settle(queue, call, answers[i]))
    return [...missing, ...batch.slice(sent.length)]
  }
}

async function post(
  queue: EndpointQueue,
  sent: QueuedCall[],
  askedAt: number,
): Promise<CallAnswer[] | NoAnswer> {
  const calls = sent.map(({ call }) => call)
  const firstId = queue.nextId
  queue.nextId += calls.length
  const { body } = writeBatch(calls, { firstId, most: calls.length })
  const stopWatch = watchTime(queue, sent, askedAt)
  const answers = queue.http.post(body).then((answer) => readBatch(answer, calls, firstId))
  return answers.catch(toNoAnswer).finally(stopWatch)
}

function settle(
  { redact }: EndpointQueue,
  { resolve, reject }: QueuedCall,
  answer: CallAnswer,
): void {
  if (!answer) return
  if (answer instanceof NoAnswer) return reject(answer)
  if ('error' in answer) answer.error.message = redact(answer.error.message)
  resolve(answer)
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
  answers: CallAnswer[] | NoAnswer,
  askedAt: number,
): void {
  const silences = [answers].flat().filter((answer) => answer instanceof NoAnswer)
  const [first] = silences
  if (!first) return health.answered(askedAt)
  for (const { restMs } of silences) if (restMs !== undefined) health.rest(restMs)
  health.failed(askedAt, first.reason)
}
