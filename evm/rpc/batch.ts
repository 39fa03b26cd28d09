import {
  BatchRefused,
  isBatchRefusal,
  isThrottled,
  NoAnswer,
  type NodeError,
  type Reply,
} from './errors.js'
import { RETRY_MS } from '../../runtime/durations.js'
import { readRetryAfter, type HttpAnswer } from './http.js'

/** Limits of one request, in calls and characters. Most public endpoints accept this many calls. */
const BATCH_CALLS = 100
const BATCH_LENGTH = 1_000_000

/** Full requests in a row that are answered before a larger one is tried: a refusal may have passed. */
const ANSWERS_BEFORE_WIDENING = 32

/** The most calls that an endpoint accepts in one request, learned from its refusals. */
export function createBatchLimit() {
  let most = BATCH_CALLS
  let answers = 0
  return {
    most: () => most,
    refused(accepted: number): void {
      most = Math.max(accepted, 1)
      answers = 0
    },
    answered(size: number): void {
      if (size < most || most === BATCH_CALLS) return
      answers += 1
      if (answers < ANSWERS_BEFORE_WIDENING) return
      most = Math.min(2 * most, BATCH_CALLS)
      answers = 0
    },
  }
}

/** A JSON-RPC call. `isSettled`: its caller has the answer or has given up. */
export type JsonRpcCall = { method: string; params: unknown[]; isSettled: boolean }

/** `eth_call` parameters without state overrides: the call and the block. */
const OVERRIDES = 2

/**
 * True for a call that gets a request of its own. A batch is answered when its slowest call is, and estimates and
 * simulations run whole foreign contracts.
 */
export const needsOwnRequest = ({ method, params }: JsonRpcCall): boolean =>
  method === 'eth_estimateGas' || (method === 'eth_call' && params.length > OVERRIDES)

/**
 * The JSON-RPC request for as many of the first calls as fit.
 *
 * @param most - Most calls that the endpoint is known to accept.
 * @param firstId - The id of the first call; the others follow.
 * @returns `size`: number of calls in it.
 */
export function writeBatch(
  calls: JsonRpcCall[],
  { firstId, most }: { firstId: number; most: number },
): { size: number; body: string } {
  const texts: string[] = []
  let length = 0
  for (const call of calls.slice(0, most)) {
    const { method, params } = call
    if (needsOwnRequest(call) && texts.length > 0) break
    const text = JSON.stringify({ jsonrpc: '2.0', id: firstId + texts.length, method, params })
    length += text.length
    if (texts.length > 0 && length > BATCH_LENGTH) break
    texts.push(text)
    if (needsOwnRequest(call)) break
  }
  return { size: texts.length, body: texts.length === 1 ? `${texts[0]}` : `[${texts.join()}]` }
}

/** The answer to one call: a reply, silence, or undefined when the request was answered without it. */
export type CallAnswer = Reply | NoAnswer | undefined

/** Statuses of servers that accept smaller requests. */
const REFUSED_STATUSES = [400, 413, 500]

/**
 * The answers to the calls of a request, in their order.
 *
 * @param firstId - The id of the first call.
 * @throws {NoAnswer} when no call was answered; `BatchRefused` when a smaller request may be.
 */
export function readBatch(
  { status, retryAfterMs, text }: HttpAnswer,
  calls: JsonRpcCall[],
  firstId: number,
): CallAnswer[] {
  if (status === 429) throw throttled(retryAfterMs)
  if (REFUSED_STATUSES.includes(status)) throw new BatchRefused(`HTTP ${status}`, retryAfterMs)
  if (status < 200 || status > 299) throw new NoAnswer(`HTTP ${status}`, retryAfterMs)
  const replies = [parseJson(text)].flat().map((reply) => (reply ?? {}) as JsonRpcReply)
  const answers = calls.map((call, i) => {
    const reply = replies.find(({ id }) => id === firstId + i)
    return reply && readAnswer(call, reply, { retryAfterMs, isAlone: calls.length === 1 })
  })
  if (answers.some((answer) => answer !== undefined)) return answers
  const error = replies.map((reply) => toNodeError(reply.error)).find((one) => one !== undefined)
  if (error && isThrottled('', error)) throw throttled(retryAfterMs ?? restIn(error))
  throw error ? new BatchRefused('the batch was refused') : new NoAnswer('no JSON-RPC')
}

type Answering = { retryAfterMs: number | undefined; isAlone: boolean }

function readAnswer(
  { method }: JsonRpcCall,
  { result, error: given }: JsonRpcReply,
  { retryAfterMs, isAlone }: Answering,
): CallAnswer {
  const error = toNodeError(given)
  if (!error) return { result }
  if (!isAlone && isBatchRefusal(method, error)) return undefined
  if (isThrottled(method, error)) return throttled(retryAfterMs ?? restIn(error))
  return { error }
}

const throttled = (restMs = RETRY_MS) => new NoAnswer('too many requests', restMs)

/** The wait in seconds that the error itself states, as some services do; undefined when it states none. */
function restIn({ data }: NodeError): number | undefined {
  const { rate, ...stated } = (data ?? {}) as Stated & { rate?: Stated | null }
  const seconds = rate?.backoff_seconds ?? stated.retry_after ?? stated.retryAfter
  if (typeof seconds !== 'number' && typeof seconds !== 'string') return undefined
  return readRetryAfter(`${seconds}`, Date.now())
}

type Stated = Partial<Record<'backoff_seconds' | 'retry_after' | 'retryAfter', unknown>>

type JsonRpcReply = { id?: unknown; result?: unknown; error?: Partial<NodeError> | null }

function toNodeError(error: JsonRpcReply['error']): NodeError | undefined {
  if (error == null) return undefined
  const message = typeof error.message === 'string' ? error.message : 'no reason given'
  return { ...error, message }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NoAnswer('no JSON')
  }
}
