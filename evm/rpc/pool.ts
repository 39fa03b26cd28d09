import { setTimeout as sleep } from 'node:timers/promises'
import { keccak256 } from 'ethers'
import {
  isKnownTransaction,
  isUnacceptable,
  isUnserved,
  NoAnswer,
  toNoAnswer,
  type Reply,
} from './errors.js'
import { inOrder, lookAfter, type Heads } from './heads.js'
import { atMost } from '../../runtime/timeout.js'
import type { JsonRpcCall } from './batch.js'
import { isWell, type Endpoint } from './endpoint.js'

/** `endpoints`: those to ask, the preferred one first. `siblings`: all of the chain. */
export type Pool = {
  endpoints: Endpoint[]
  siblings: Endpoint[]
  heads: Heads
  timeoutMs: number
}

/**
 * Sends a request to the best endpoint of a chain, and to the next ones when it fails, is late, or does not have the
 * block. A transaction is sent to all of them.
 *
 * @throws {NoAnswer} when no endpoint answers within the request timeout.
 */
export async function askPool(pool: Pool, method: string, params: unknown[]): Promise<Reply> {
  const call: JsonRpcCall = { method, params, isSettled: false }
  try {
    const reply = await atMost(askChosen(pool, call), pool.timeoutMs)
    if (!reply) throw new NoAnswer('no answer')
    return reply
  } finally {
    call.isSettled = true
  }
}

async function askChosen(pool: Pool, call: JsonRpcCall): Promise<Reply> {
  lookAfter(pool.heads, pool.siblings)
  const chosen = await choose(pool)
  if (call.method === 'eth_sendRawTransaction') return broadcast(chosen, call)
  return askInTurn(chosen, call)
}

/**
 * The endpoints to ask, the best first. When all throttle requests, the first one to accept them again. When all
 * available ones are on a fork, unavailable ones are asked first without a probe, because they may have recovered.
 */
async function choose({ endpoints, siblings, heads, timeoutMs }: Pool): Promise<Endpoint[]> {
  const now = Date.now()
  const known = endpoints.filter(({ isRefused }) => !isRefused)
  const awake = known.filter(({ health }) => health.restsUntil() <= now)
  const well = known.filter(isWell)
  const allWell = siblings.filter(isWell)
  const isForkLeft = allWell.length > 0 && allWell.every((one) => heads.apart.has(one))
  if (well.length > 0) return inOrder(heads, isForkLeft ? awake : well)
  if (awake.length > 0) {
    // The caller of a single endpoint has other endpoints to ask.
    if (endpoints.length < siblings.length && !isForkLeft) throw new NoAnswer('away')
    // No other endpoint is available: an unavailable one may have recovered.
    return awake
  }
  const [first] = known.sort((a, b) => a.health.restsUntil() - b.health.restsUntil())
  if (!first) throw new NoAnswer('it serves another chain')
  const restMs = first.health.restsUntil() - now
  if (restMs >= timeoutMs) throw new NoAnswer('too many requests')
  await sleep(restMs)
  return [first]
}

/** The first answer. A node's own error counts only if no other endpoint can serve the request. */
function askInTurn(endpoints: Endpoint[], call: JsonRpcCall): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const left = [...endpoints]
    let asked = 0
    let unserved: Reply | undefined
    let failure: NoAnswer | undefined
    const askNext = () => {
      const endpoint = left.shift()
      if (endpoint && !call.isSettled) void ask(endpoint)
    }
    const ask = async (endpoint: Endpoint) => {
      const goOn = once(askNext)
      asked += 1
      const answer = await endpoint.ask(call, left.length > 0 ? goOn : undefined).catch(toNoAnswer)
      asked -= 1
      if (answer instanceof NoAnswer) failure = answer
      else if (isUnserved(call.method, answer)) unserved ??= answer
      else return resolve(answer)
      goOn()
      if (asked > 0) return
      if (unserved) resolve(unserved)
      else reject(failure ?? new NoAnswer('no answer'))
    }
    askNext()
  })
}

function once(run: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    run()
  }
}

const REFUSED = 'refused'
type ErrorReply = Extract<Reply, { error: unknown }>

/** Accepted when one endpoint accepts it; rejected when all reject it. */
async function broadcast(endpoints: Endpoint[], call: JsonRpcCall): Promise<Reply> {
  const refusals: ErrorReply[] = []
  const send = async (endpoint: Endpoint): Promise<Reply> => {
    const reply = await endpoint.ask(
      { ...call },
      endpoints.length > 1 ? () => undefined : undefined,
    )
    if (!('error' in reply)) return reply
    if (isKnownTransaction(reply.error)) return { result: keccak256(String(call.params[0])) }
    refusals.push(reply)
    throw new NoAnswer(REFUSED)
  }
  try {
    return await Promise.any(endpoints.map(send))
  } catch (error) {
    // Of several errors a temporary one is returned: a rejection is permanent only if it is so at every endpoint.
    const refusal = refusals.find((one) => !isUnacceptable(one.error)) ?? refusals[0]
    if (refusal && refusals.length === endpoints.length) return refusal
    // An endpoint without an answer may have accepted it.
    const silences = (error as AggregateError).errors as NoAnswer[]
    throw silences.find(({ reason }) => reason !== REFUSED) ?? error
  }
}
