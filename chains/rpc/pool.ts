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
import { atMost } from '../../timeout.js'
import type { Call } from './batch.js'
import { isWell, type Endpoint } from './endpoint.js'

/** `endpoints`: those to ask, the preferred one first; `siblings`: all of the chain. */
export type Pool = {
  endpoints: Endpoint[]
  siblings: Endpoint[]
  heads: Heads
  timeoutMs: number
}

/**
 * Asks a chain through the best of its endpoints, and through the next ones where that one fails, is late, or
 * does not have the block. A transaction goes to all of them.
 *
 * @throws {NoAnswer} when none of them answers within the time of a request.
 */
export async function askPool(pool: Pool, method: string, params: unknown[]): Promise<Reply> {
  const call: Call = { method, params, isOver: false }
  try {
    const reply = await atMost(askChosen(pool, call), pool.timeoutMs)
    if (!reply) throw new NoAnswer('no answer')
    return reply
  } finally {
    call.isOver = true
  }
}

async function askChosen(pool: Pool, call: Call): Promise<Reply> {
  if (pool.siblings.length > 1) lookAfter(pool.heads, pool.siblings)
  const chosen = await choose(pool)
  if (call.method === 'eth_sendRawTransaction') return broadcast(chosen, call)
  return askInTurn(chosen, call)
}

/**
 * Those that are to be asked, the best first. When all have asked to be left alone, the first to be back. Where all that
 * are well are on a fork, one that was away is asked before them: it may be back, and waits for no probe then.
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
    // One of several alone: whoever asks it has others to ask.
    if (endpoints.length < siblings.length && !isForkLeft) throw new NoAnswer('away')
    // Nobody else is there: one that was away may be back.
    return awake
  }
  const [first] = known.sort((a, b) => a.health.restsUntil() - b.health.restsUntil())
  if (!first) throw new NoAnswer('it serves another chain')
  const restMs = first.health.restsUntil() - now
  if (restMs >= timeoutMs) throw new NoAnswer('too many requests')
  await sleep(restMs)
  return [first]
}

/** The first answer. A node's own no counts only where no other one knows better. */
function askInTurn(endpoints: Endpoint[], call: Call): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const left = [...endpoints]
    let asked = 0
    let unserved: Reply | undefined
    let failure: NoAnswer | undefined
    const askNext = () => {
      const endpoint = left.shift()
      if (endpoint && !call.isOver) void ask(endpoint)
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
type Refusal = Extract<Reply, { error: unknown }>

/** Taken when one endpoint takes it, whatever the others say; refused when all refuse it. */
async function broadcast(endpoints: Endpoint[], call: Call): Promise<Reply> {
  const refusals: Refusal[] = []
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
    // Of several refusals one that may pass speaks for all: only what everybody refuses for good is refused for good.
    const refusal = refusals.find((one) => !isUnacceptable(one.error)) ?? refusals[0]
    if (refusal && refusals.length === endpoints.length) return refusal
    // One that was not heard may have taken it.
    const silences = (error as AggregateError).errors as NoAnswer[]
    throw silences.find(({ reason }) => reason !== REFUSED) ?? error
  }
}
