import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import { createPoolRule } from '../../dev/devnet/replacement.js'
import { callRpc } from '../../dev/devnet/rpc.js'
import { readSent } from '../../dev/devnet/sent.js'

export type RpcRequest = { id: number; method: string; params: unknown[] }
type RpcAnswer = { id: number; jsonrpc: '2.0'; result?: unknown; error?: unknown }

/**
 * Fault of a call. `lostReply` delivers it and then cuts the connection. `silence` accepts it and never responds.
 * `stale` repeats the previous response to the same call. `status` responds to the whole request by HTTP status alone,
 * `body` with this JSON. `answer` and `error` replace the node's response. `refuse` does too, but the node does not
 * receive the call.
 */
export type RpcFault =
  | 'http500'
  | 'http429'
  | 'reset'
  | 'lostReply'
  | 'silence'
  | 'garbage'
  | 'stale'
  | { status: number; retryAfter?: string }
  | { body: unknown; retryAfter?: string }
  | { delayMs: number }
  | { answer: unknown }
  | { error: { code: number; message: string; data?: unknown }; retryAfter?: string }
  | { refuse: { code: number; message: string } }

/** Decides about each call before the node receives it. `index`: its position in the request. */
export type Decide = (
  call: RpcRequest,
  index?: number,
) => RpcFault | undefined | Promise<RpcFault | undefined>

export type FaultProxy = {
  url: string
  /** Replaces the rule for faults. Without a rule all calls pass. */
  set(decide: Decide | undefined): void
  /** Injected faults by kind. */
  counts: Record<string, number>
  /** Calls by method, requests, and the maximum of concurrent requests. */
  asked: Record<string, number>
  load: { most: number; total: number }
  stop(): Promise<void>
}

/**
 * A JSON-RPC endpoint in front of a real node that injects the faults of public endpoints. It applies geth's rule for
 * replacement transactions.
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const earlier = new Map<string, RpcAnswer>()
  const counts: Record<string, number> = {}
  const asked: Record<string, number> = {}
  const load = { now: 0, most: 0, total: 0 }
  const poolRule = createPoolRule()
  const ask = <T>(method: string, params: unknown[]) => callRpc<T>(target, method, params)
  let decide: Decide | undefined

  async function decideAll(calls: RpcRequest[]): Promise<(RpcFault | undefined)[]> {
    return Promise.all(
      calls.map(async (call, i) => {
        const fault = await decide?.(call, i)
        if (fault || call.method !== 'eth_sendRawTransaction') return fault
        const sent = readSent(String(call.params[0]))
        const refuse = sent && (await poolRule(ask, sent))
        return refuse && { refuse }
      }),
    )
  }

  async function handle(request: IncomingMessage, response: ServerResponse) {
    load.total++
    load.most = Math.max(load.most, ++load.now)
    response.once('close', () => load.now--)
    const body = await readBody(request)
    const parsed = JSON.parse(body) as RpcRequest | RpcRequest[]
    const calls = Array.isArray(parsed) ? parsed : [parsed]
    for (const { method } of calls) asked[method] = (asked[method] ?? 0) + 1
    const faults = await decideAll(calls)
    for (const fault of faults) if (fault) count(counts, fault)

    if (failBefore(faults, request, response)) return
    for (const fault of faults) {
      if (typeof fault === 'object' && 'delayMs' in fault) await sleep(fault.delayMs)
    }
    const passed = calls.filter((_call, i) => !isRefused(faults[i]))
    const answers = await forward(target, passed)
    if (faults.includes('lostReply')) return void request.socket.destroy()
    const replies = calls.map((call, i) => reply(call, faults[i], answers))
    const text = JSON.stringify(Array.isArray(parsed) ? replies : replies[0])
    const headers = Object.assign({}, ...faults.map(retryHeader)) as Record<string, string>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text)
  }

  function reply(call: RpcRequest, fault: RpcFault | undefined, answers: RpcAnswer[]): RpcAnswer {
    const key = JSON.stringify([call.method, call.params])
    const answer = answers.find(({ id }) => id === call.id) ?? { id: call.id, jsonrpc: '2.0' }
    const before = earlier.get(key) ?? answer
    earlier.set(key, answer)
    return retell(fault, answer, before)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ counts, asked, load },
    set: (next) => (decide = next),
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** True when the fault of one call stops the whole request. */
function failBefore(
  faults: (RpcFault | undefined)[],
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const cut = faults.map(asHttp).find((one) => one !== undefined)
  if (cut) response.writeHead(cut.status, cut.headers).end(cut.body)
  else if (faults.includes('reset')) request.socket.destroy()
  else return faults.includes('silence')
  return true
}

/** Faults of the server in front of a node, which fail whole requests. */
function asHttp(fault: RpcFault | undefined) {
  if (fault === 'http500') return { status: 500, headers: {}, body: 'down' }
  if (fault === 'http429') return { status: 429, headers: { 'retry-after': '1' }, body: '{}' }
  if (fault === 'garbage') return { status: 200, headers: {}, body: '<html>hello</html>' }
  if (typeof fault !== 'object') return undefined
  const headers = retryHeader(fault)
  if ('body' in fault) return { status: 200, headers, body: JSON.stringify(fault.body) }
  return 'status' in fault ? { status: fault.status, headers, body: '{}' } : undefined
}

const retryHeader = (fault: RpcFault | undefined): Record<string, string> =>
  typeof fault === 'object' && 'retryAfter' in fault && fault.retryAfter
    ? { 'retry-after': fault.retryAfter }
    : {}

/** Public endpoints limit the block range of log queries, each with its own message. */
export function refusesWideRanges(blocks: number, fault: RpcFault) {
  return ({ method, params: [filter] }: RpcRequest): RpcFault | undefined => {
    if (method !== 'eth_getLogs') return undefined
    const { fromBlock, toBlock } = filter as { fromBlock?: string; toBlock?: string }
    return Number(toBlock) - Number(fromBlock) + 1 > blocks ? fault : undefined
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function forward(target: string, calls: RpcRequest[]): Promise<RpcAnswer[]> {
  if (calls.length === 0) return []
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(calls) })
  return (await response.json()) as RpcAnswer[]
}

const isRefused = (fault: RpcFault | undefined) => typeof fault === 'object' && 'refuse' in fault

function count(counts: Record<string, number>, fault: RpcFault): void {
  const name = typeof fault === 'string' ? fault : (Object.keys(fault)[0] ?? 'unknown')
  counts[name] = (counts[name] ?? 0) + 1
}

function retell(fault: RpcFault | undefined, answer: RpcAnswer, before: RpcAnswer): RpcAnswer {
  const { id } = answer
  if (fault === 'stale') return { ...before, id }
  if (typeof fault !== 'object') return answer
  if ('answer' in fault) return { id, jsonrpc: '2.0', result: fault.answer }
  if ('error' in fault) return { id, jsonrpc: '2.0', error: fault.error }
  if ('refuse' in fault) return { id, jsonrpc: '2.0', error: fault.refuse }
  return answer
}
