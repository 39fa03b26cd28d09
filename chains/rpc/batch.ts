import { NoAnswer, type NodeError, type Reply } from './errors.js'
import { RETRY_MS } from '../../durations.js'
import type { HttpAnswer } from './http.js'

/** As many calls travel in one request, which public endpoints take, and of so many characters. */
const BATCH_CALLS = 100
const BATCH_LENGTH = 1_000_000

/** What is asked of a node, and whether nobody waits for it any more. */
export type Call = { method: string; params: unknown[]; isOver: boolean }

/** What `eth_call` takes besides the call and the block. */
const OVERRIDES = 2

/**
 * True for a call that is sent by itself, so that others do not wait for its answer: a batch is answered when its
 * slowest call is, and estimates and simulations run whole contracts of others.
 */
export const travelsAlone = ({ method, params }: Call): boolean =>
  method === 'eth_estimateGas' || (method === 'eth_call' && params.length > OVERRIDES)

/**
 * The JSON-RPC request that the first of some calls make together.
 *
 * @param firstId - The id of the first one; the others follow.
 * @returns `size`: how many calls are in it.
 */
export function writeBatch(calls: Call[], firstId: number): { size: number; body: string } {
  const texts: string[] = []
  let length = 0
  for (const call of calls.slice(0, BATCH_CALLS)) {
    const { method, params } = call
    if (travelsAlone(call) && texts.length > 0) break
    const text = JSON.stringify({ jsonrpc: '2.0', id: firstId + texts.length, method, params })
    length += text.length
    if (texts.length > 0 && length > BATCH_LENGTH) break
    texts.push(text)
    if (travelsAlone(call)) break
  }
  return { size: texts.length, body: texts.length === 1 ? `${texts[0]}` : `[${texts.join()}]` }
}

/**
 * The replies of a node by the ids of the calls.
 *
 * @throws {NoAnswer} for anything but JSON-RPC.
 */
export function readBatch({ status, retryAfterMs, text }: HttpAnswer): Map<number, Reply> {
  if (status === 429) throw new NoAnswer('too many requests', retryAfterMs ?? RETRY_MS)
  if (status < 200 || status > 299) throw new NoAnswer(`HTTP ${status}`, retryAfterMs)
  const answers = [parseJson(text)].flat()
  const replies = answers.flatMap((answer): [number, Reply][] => {
    const { id, error, result } = (answer ?? {}) as Answer
    if (typeof id !== 'number') return []
    if (error == null) return [[id, { result }]]
    const message = typeof error.message === 'string' ? error.message : 'no reason told'
    return [[id, { error: { ...error, message } }]]
  })
  if (replies.length === 0) throw new NoAnswer('no JSON-RPC')
  return new Map(replies)
}

type Answer = { id?: unknown; result?: unknown; error?: Partial<NodeError> | null }

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NoAnswer('no JSON')
  }
}
