import { readBatch, travelsAlone, writeBatch, type Call } from './batch.js'
import { NoAnswer, toNoAnswer, type Reply } from './errors.js'
import { createHealth, type Health, type HealthListener } from './health.js'
import { connectHttp, type HttpPost } from './http.js'
import { createRedaction } from './redact.js'
import type { RpcWaits } from './waits.js'

/** Requests under way at a time. What comes meanwhile waits, and then travels in larger batches. */
const REQUESTS = 32
/** Of these, so many may be calls that travel alone: however many of them hang, others get through. */
const ALONE_REQUESTS = 24
/** Calls that wait at most. More would be too old by the time they were answered. */
const WAITING_CALLS = 5_000

/** One address of a chain. */
export type Endpoint = {
  /** Its place in the list of the chain's addresses, from 1. */
  position: number
  health: Health
  /** It serves another chain: it is not asked any more. */
  isRefused: boolean
  /**
   * Calls of the same tick travel as one JSON-RPC batch.
   *
   * @param onLate - Called when the answer takes longer than `patienceMs`.
   * @throws {NoAnswer}
   */
  ask(call: Call, onLate?: () => void): Promise<Reply>
  close(): void
}

/** As far as it is known: its chain is the right one, it answers, and it has not asked to be left alone. */
export const isWell = ({ isRefused, health }: Endpoint): boolean =>
  !isRefused && !health.isAway() && health.restsUntil() <= Date.now()

type Waiting = {
  call: Call
  resolve(reply: Reply): void
  reject(error: NoAnswer): void
  onLate: (() => void) | undefined
}

/** What waits for an endpoint, and what is under way. `redact`: nodes repeat what they were called by. */
type Line = {
  endpoint: Endpoint
  waits: RpcWaits
  http: HttpPost
  redact(text: string): string
  waiting: Waiting[]
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
        if (line.waiting.length >= WAITING_CALLS) return reject(new NoAnswer('too many calls'))
        line.waiting.push({ call, resolve, reject, onLate })
        line.timer ??= setTimeout(sendWaiting, 0, line)
      }),
    close: http.close,
  }
  const redact = createRedaction(url)
  const rest = { waiting: [], timer: undefined, requests: 0, aloneRequests: 0, nextId: 1 }
  const line: Line = { endpoint, waits, http, redact, ...rest }
  return endpoint
}

function sendWaiting(line: Line): void {
  line.timer = undefined
  const waiting = line.waiting.filter(({ call }) => !call.isOver)
  // Those that travel alone come last, so that they do not cut the batch of the others in pieces.
  const alone = waiting.filter(({ call }) => travelsAlone(call))
  line.waiting = [...waiting.filter(({ call }) => !travelsAlone(call)), ...alone]
  while (line.waiting.length > 0 && line.requests < REQUESTS) {
    const firstId = line.nextId
    const calls = line.waiting.map(({ call }) => call)
    if (calls[0] && travelsAlone(calls[0]) && line.aloneRequests >= ALONE_REQUESTS) return
    const { size, body } = writeBatch(calls, firstId)
    line.nextId += size
    void exchange(line, line.waiting.splice(0, size), { body, firstId })
  }
}

async function exchange(
  line: Line,
  batch: Waiting[],
  { body, firstId }: { body: string; firstId: number },
): Promise<void> {
  const { endpoint, http, redact } = line
  const askedAt = Date.now()
  const stopWatch = watchTime(line, batch, askedAt)
  const alone = batch.filter(({ call }) => travelsAlone(call)).length
  line.requests += 1
  line.aloneRequests += alone
  const replies = await http.post(body).then(readBatch).catch(toNoAnswer)
  line.requests -= 1
  line.aloneRequests -= alone
  stopWatch()
  note(endpoint, replies, askedAt)
  batch.forEach(({ resolve, reject }, i) => {
    const reply = replies instanceof Map ? replies.get(firstId + i) : replies
    if (reply instanceof NoAnswer) return reject(reply)
    if (!reply) return reject(new NoAnswer('the batch was answered in part'))
    if ('error' in reply) reply.error.message = redact(reply.error.message)
    resolve(reply)
  })
  if (line.waiting.length > 0 && !line.timer) sendWaiting(line)
}

/** Tells those who have somewhere else to go when the answer is late. Returns what ends the watch. */
function watchTime({ endpoint, waits }: Line, batch: Waiting[], askedAt: number): () => void {
  const hurried = batch.filter(({ onLate }) => onLate)
  if (hurried.length === 0) return () => undefined
  let read: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    // An answer that has come while this process was busy is read first.
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

function note({ health }: Endpoint, replies: Map<number, Reply> | NoAnswer, askedAt: number): void {
  if (replies instanceof Map) return health.answered(askedAt)
  if (replies.restMs !== undefined) health.rest(replies.restMs)
  health.failed(askedAt, replies.reason)
}
