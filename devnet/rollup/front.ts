import { Agent, createServer, request as ask, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { toQuantity } from 'ethers'
import { createPoolRule, readSent, type PoolRule, type Sent } from '../replacement.js'
import { callRpc, callRpcBatch, type RpcCall } from '../rpc.js'
import { nitro } from './nitro.js'
import { opStack } from './opStack.js'
import type { RollupKind } from '../../chains/registry.js'
import type { Ask, RawReceipt, Rollup } from './rollup.js'

const rollups: Record<RollupKind, Rollup> = { nitro, 'op-stack': opStack }

type Call = { id: unknown; method: string; params?: unknown[] }
type Answer = { jsonrpc: '2.0'; id: unknown; result?: unknown; error?: unknown }

/** Bodies with none of these names pass as they are. */
const changed = [
  'eth_sendRawTransaction',
  'eth_getTransactionReceipt',
  'eth_estimateGas',
  'eth_maxPriorityFeePerGas',
]

type Options = {
  kind: RollupKind
  target: string
  host?: string | undefined
  port?: number | undefined
}
export type Front = { url: string; stop(): Promise<void> }

/**
 * Stand-in for the nodes of rollups: JSON-RPC in front of an anvil node, whose answers it changes where such a
 * node's differ by the costs of data on L1. Everything else passes byte by byte.
 *
 * @param options - `port`: a free one when absent.
 * @throws Error when the port is taken.
 */
export async function startFront(options: Options): Promise<Front> {
  const { kind, target, host = '127.0.0.1', port = 0 } = options
  const agent = new Agent({ keepAlive: true })
  const poolRule = createPoolRule((hash) => callRpc(target, 'eth_getTransactionByHash', [hash]))
  const behind = { rollup: rollups[kind], poolRule, target, agent }
  const server = createServer((request, response) => {
    const pass = async () => {
      const body = await text(request)
      if (changed.some((method) => body.includes(method))) {
        const answers = await answerBody(behind, body)
        response.writeHead(200, { 'content-type': 'application/json' }).end(answers)
        return
      }
      const answer = await forward({ target, agent }, body)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    }
    // As a node that is gone.
    pass().catch(() => request.socket.destroy())
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
      agent.destroy()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

type Behind = { target: string; agent: Agent }

function forward({ target, agent }: Behind, body: string): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    ask(target, { method: 'POST', agent, headers }, resolve).on('error', reject).end(body)
  })
}

type Rules = { rollup: Rollup; poolRule: PoolRule }

async function answerBody(behind: Behind & Rules, body: string): Promise<string> {
  const parsed = JSON.parse(body) as Call | Call[]
  const calls = Array.isArray(parsed) ? parsed : [parsed]
  const { rollup, target } = behind
  const askNode = createAsk(target)
  const sent = await readAllSent(calls)
  const own = await Promise.all(
    calls.map(({ id, method }, i) => answerAlone(behind, askNode, { id, method, sent: sent[i] })),
  )
  const passing = calls.filter((_, i) => !own[i])
  const told = passing.length === 0 ? [] : await forwardAll(behind, passing)
  const answers = await Promise.all(
    calls.map((call, i) => {
      const answer = own[i] ?? told.find(({ id }) => id === call.id)
      if (!answer) throw new Error(`The node did not answer ${call.method}.`)
      return retell({ rollup, ask: askNode }, call, answer)
    }),
  )
  return JSON.stringify(Array.isArray(parsed) ? answers : answers[0])
}

/** A whole deployment takes a second: whatever else this process does has its turn in between. */
async function readAllSent(calls: Call[]): Promise<(Sent | undefined)[]> {
  const sent: (Sent | undefined)[] = []
  for (const { method, params } of calls) {
    const isSent = method === 'eth_sendRawTransaction'
    sent.push(isSent ? readSent(String(params?.[0])) : undefined)
    if (isSent) await setImmediate()
  }
  return sent
}

async function forwardAll(behind: Behind, calls: Call[]): Promise<Answer[]> {
  return JSON.parse(await text(await forward(behind, JSON.stringify(calls)))) as Answer[]
}

type Question = { call: RpcCall; resolve(answer: unknown): void; reject(error: unknown): void }

/** Asks at once what the calls of one body ask in one turn, and once what they ask alike. */
function createAsk(target: string): Ask {
  const asked = new Map<string, Promise<unknown>>()
  let questions: Question[] = []
  const send = async () => {
    const sent = questions
    questions = []
    try {
      const answers = await callRpcBatch<unknown>(
        target,
        sent.map(({ call }) => call),
      )
      answers.forEach(({ result, error }, i) => {
        if (error) sent[i]?.reject(new Error(error))
        else sent[i]?.resolve(result)
      })
    } catch (error) {
      for (const { reject } of sent) reject(error)
    }
  }
  return <T>(method: string, params: unknown[]) => {
    const key = JSON.stringify([method, params])
    const answer =
      asked.get(key) ??
      new Promise((resolve, reject) => {
        questions.push({ call: [method, params], resolve, reject })
        if (questions.length === 1) void setImmediate().then(send)
      })
    asked.set(key, answer)
    return answer as Promise<T>
  }
}

/** The answer that the node behind is not asked for. */
async function answerAlone(
  { rollup, poolRule }: Rules,
  askNode: Ask,
  { id, method, sent }: Pick<Call, 'id' | 'method'> & { sent: Sent | undefined },
): Promise<Answer | undefined> {
  if (method === 'eth_maxPriorityFeePerGas') {
    return { jsonrpc: '2.0', id, result: toQuantity(rollup.tipWei) }
  }
  if (!sent) return undefined
  const error = (await rollup.refusalOf(askNode, sent)) ?? (await poolRule(sent))
  return error && { jsonrpc: '2.0', id, error }
}

async function retell(
  { rollup, ask: askNode }: { rollup: Rollup; ask: Ask },
  { method, params }: Call,
  answer: Answer,
): Promise<Answer> {
  if (!answer.result) return answer
  if (method === 'eth_estimateGas') {
    const { data, input } = params?.[0] as { data?: string; input?: string }
    const onTop = await rollup.estimateOnTop(askNode, data ?? input ?? '0x')
    return { ...answer, result: toQuantity(BigInt(answer.result as string) + onTop) }
  }
  if (method !== 'eth_getTransactionReceipt') return answer
  const receipt = answer.result as RawReceipt
  const raw = await askNode<string | null>('eth_getRawTransactionByHash', [receipt.transactionHash])
  return raw ? { ...answer, result: await rollup.toldReceipt(askNode, receipt, raw) } : answer
}
