import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { toQuantity } from 'ethers'
import { createPoolRule, type PoolRule } from '../replacement.js'
import { createPost, readText } from '../rpc.js'
import { readSent, type Sent } from '../sent.js'
import { nitro } from './nitro.js'
import { opStack } from './opStack.js'
import type { RollupKind } from '../../../evm/registry.js'
import type { Ask, RawReceipt, Rollup } from './rollup.js'

const rollups: Record<RollupKind, Rollup> = { nitro, 'op-stack': opStack }

type JsonRpcRequest = { id: unknown; method: string; params?: unknown[] }
type JsonRpcResponse = { jsonrpc: '2.0'; id: unknown; result?: unknown; error?: unknown }

/** Bodies without any of these method names pass unchanged. */
const changed = [
  'eth_sendRawTransaction',
  'eth_getTransactionReceipt',
  'eth_estimateGas',
  'eth_maxPriorityFeePerGas',
]

type FrontOptions = {
  kind: RollupKind
  target: string
  host?: string | undefined
  port?: number | undefined
}
export type Front = { url: string; stop(): Promise<void> }

/**
 * Stand-in for the nodes of rollups: JSON-RPC in front of an anvil node. It changes the responses that depend on the
 * cost of data on L1. Everything else passes byte by byte.
 *
 * @param options - `port`: a free one when absent.
 * @throws Error when the port is taken.
 */
export async function startFront(options: FrontOptions): Promise<Front> {
  const { kind, target, host = '127.0.0.1', port = 0 } = options
  const [rollup, poolRule] = [rollups[kind], createPoolRule()]
  const server = createServer((request, response) => {
    // Behaves like an unreachable node.
    pass({ rollup, poolRule, post: createPost(target) }, request, response).catch(() =>
      request.socket.destroy(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: Error) =>
      reject(new Error(`Port ${port} is taken on ${host}. Choose another.`, { cause }))
    server.once('error', refuse).listen(port, host, resolve)
  })
  const shownHost = host === '0.0.0.0' ? '127.0.0.1' : host
  return {
    url: `http://${shownHost}:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** `post` forwards to the node. */
type Behind = { rollup: Rollup; poolRule: PoolRule; post: ReturnType<typeof createPost> }

async function pass(behind: Behind, request: IncomingMessage, response: ServerResponse) {
  const body = await readText(request)
  if (changed.some((method) => body.includes(method))) {
    const answers = await answerBody(behind, body)
    response.writeHead(200, { 'content-type': 'application/json' }).end(answers)
    return
  }
  const { statusCode = 502, headers, text } = await behind.post(body)
  response.writeHead(statusCode, headers).end(text)
}

type RollupAnswer = { rollup: Rollup; node: NodeClient }

async function answerBody({ rollup, poolRule, post }: Behind, body: string): Promise<string> {
  const parsed = JSON.parse(body) as JsonRpcRequest | JsonRpcRequest[]
  const calls = Array.isArray(parsed) ? parsed : [parsed]
  const node = createNode(post)
  const sent = await readAllSent(calls)
  const refusals = await Promise.all(
    sent.map(async (one) => {
      if (!one) return undefined
      const [refusal, poolRefusal] = await Promise.all([
        rollup.refusalOf(node.ask, one),
        poolRule(node.ask, one),
      ])
      return refusal ?? poolRefusal
    }),
  )
  const answers = await Promise.all(
    calls.map(async (call, i): Promise<JsonRpcResponse> => {
      const [{ id }, error] = [call, refusals[i]]
      return error ? { jsonrpc: '2.0', id, error } : answerCall({ rollup, node }, call)
    }),
  )
  return JSON.stringify(Array.isArray(parsed) ? answers : answers[0])
}

/** A whole deployment takes a second. Other work of this process gets its turn in between. */
async function readAllSent(calls: JsonRpcRequest[]): Promise<(Sent | undefined)[]> {
  const sent: (Sent | undefined)[] = []
  for (const { method, params } of calls) {
    const isSent = method === 'eth_sendRawTransaction'
    sent.push(isSent ? readSent(String(params?.[0])) : undefined)
    if (isSent) await setImmediate()
  }
  return sent
}

type PendingRequest = Omit<JsonRpcRequest, 'id'> & {
  resolve(answer: JsonRpcResponse): void
  reject(error: unknown): void
}

type NodeClient = {
  /** The node's own response to a call. */
  forward(call: Omit<JsonRpcRequest, 'id'>): Promise<JsonRpcResponse>
  /** A result. Identical calls share one request. Throws when the node returns an error. */
  ask: Ask
}

/** Client of the node for the calls of one body. Calls of one tick go out as one batch, in order. */
function createNode(post: Behind['post']): NodeClient {
  const asked = new Map<string, Promise<JsonRpcResponse>>()
  let questions: PendingRequest[] = []
  const send = async () => {
    const sent = questions
    questions = []
    try {
      const calls = sent.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
      const { text } = await post(JSON.stringify(calls))
      const answers = new Map(
        (JSON.parse(text) as JsonRpcResponse[]).map((answer) => [answer.id, answer]),
      )
      sent.forEach(({ method, resolve, reject }, id) => {
        const answer = answers.get(id)
        if (answer) resolve(answer)
        else reject(new Error(`The node did not answer ${method}.`))
      })
    } catch (error) {
      for (const { reject } of sent) reject(error)
    }
  }
  const forward = ({ method, params }: Omit<JsonRpcRequest, 'id'>) =>
    new Promise<JsonRpcResponse>((resolve, reject) => {
      questions.push({ method, ...(params && { params }), resolve, reject })
      if (questions.length === 1) void setImmediate().then(send)
    })
  const ask = async <T>(method: string, params: unknown[]) => {
    const key = JSON.stringify([method, params])
    const answer = asked.get(key) ?? forward({ method, params })
    asked.set(key, answer)
    const { result, error } = await answer
    if (error) throw new Error(JSON.stringify(error))
    return result as T
  }
  return { forward, ask }
}

async function answerCall(
  { rollup, node }: RollupAnswer,
  call: JsonRpcRequest,
): Promise<JsonRpcResponse> {
  const { id, method } = call
  if (method === 'eth_maxPriorityFeePerGas') {
    return { jsonrpc: '2.0', id, result: toQuantity(rollup.tipWei) }
  }
  if (method === 'eth_estimateGas') return answerEstimate({ rollup, node }, call)
  const answer = { ...(await node.forward(call)), id }
  if (!answer.result || method !== 'eth_getTransactionReceipt') return answer
  return { ...answer, result: await rollup.toReceipt(node.ask, answer.result as RawReceipt) }
}

async function answerEstimate(
  { rollup, node }: RollupAnswer,
  call: JsonRpcRequest,
): Promise<JsonRpcResponse> {
  const { data, input } = call.params?.[0] as { data?: string; input?: string }
  const onTop = rollup.estimateOnTop(node.ask, data ?? input ?? '0x')
  // A call that reverts has no L1 costs to add.
  onTop.catch(() => undefined)
  const answer = { ...(await node.forward(call)), id: call.id }
  if (!answer.result) return answer
  return { ...answer, result: toQuantity(BigInt(answer.result as string) + (await onTop)) }
}
