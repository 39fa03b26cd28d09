import { NoAnswer, type NodeError, type Reply } from './errors.js'
import { RETRY_MS } from '../../runtime/durations.js'
import type { HttpAnswer } from './http.js'

/** Limits of one request, in calls and characters. Public endpoints accept this many calls. */
const BATCH_CALLS = 100
const BATCH_LENGTH = 1_000_000

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
 * @param firstId - The id of the first call; the others follow.
 * @returns `size`: number of calls in it.
 */
export function writeBatch(calls: JsonRpcCall[], firstId: number): { size: number; body: string } {
  const texts: string[] = []
  let length = 0
  for (const call of calls.slice(0, BATCH_CALLS)) {
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

/**
 * The replies of a node by call id.
 *
 * @throws {NoAnswer} for anything but JSON-RPC.
 */
export function readBatch({ status, retryAfterMs, text }: HttpAnswer): Map<number, Reply> {
  if (status === 429) throw new NoAnswer('too many requests', retryAfterMs ?? RETRY_MS)
  if (status < 200 || status > 299) throw new NoAnswer(`HTTP ${status}`, retryAfterMs)
  const answers = [parseJson(text)].flat()
  const replies = answers.flatMap((answer): [number, Reply][] => {
    const { id, error, result } = (answer ?? {}) as JsonRpcReply
    if (typeof id !== 'number') return []
    if (error == null) return [[id, { result }]]
    const message = typeof error.message === 'string' ? error.message : 'no reason given'
    return [[id, { error: { ...error, message } }]]
  })
  if (replies.length === 0) throw new NoAnswer('no JSON-RPC')
  return new Map(replies)
}

type JsonRpcReply = { id?: unknown; result?: unknown; error?: Partial<NodeError> | null }

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NoAnswer('no JSON')
  }
}
