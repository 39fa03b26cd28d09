import { Agent, request, type IncomingMessage } from 'node:http'

type RpcResponse = { id: number; result?: unknown; error?: { code: number; message: string } }
export type RpcCall = readonly [method: string, params: unknown[]]

/** A whole deployment in one batch takes about a second, several on a busy machine. */
const TIMEOUT_MS = 30_000
/** Below the idle timeout of servers, which is 5 s or more, so that no request meets a closing connection. */
const IDLE_MS = 4_000

const agent = new Agent({ keepAlive: true, timeout: IDLE_MS })

/** The result of one JSON-RPC call. Throws an Error with the method's name when the node returns an error. */
export async function callRpc<T>(url: string, method: string, params: unknown[] = []): Promise<T> {
  const [answer] = await callRpcBatch<T>(url, [[method, params]])
  if (answer?.error) throw new Error(`${method}: ${answer.error}`)
  return answer?.result as T
}

/** The node's responses in the order of the calls. `error` is the node's message. */
export async function callRpcBatch<T>(
  url: string,
  calls: RpcCall[],
): Promise<{ result?: T; error?: string }[]> {
  // An empty batch is an error in JSON-RPC.
  if (calls.length === 0) return []
  const body = calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))
  const { statusCode = 0, text } = await createPost(url)(JSON.stringify(body))
  if (statusCode !== 200) throw new Error(`The node at ${url} answered HTTP ${statusCode}.`)
  const answers = new Map((JSON.parse(text) as RpcResponse[]).map((one) => [one.id, one]))
  return calls.map((_, id) => {
    const answer = answers.get(id)
    if (!answer) return { error: 'no answer' }
    return answer.error ? { error: answer.error.message } : { result: answer.result as T }
  })
}

export type RawHttpResponse = Pick<IncomingMessage, 'statusCode' | 'headers'> & { text: string }

/**
 * Posts JSON to one address, over kept-alive connections that all callers share.
 *
 * @throws Error when the server is unreachable or does not respond in time.
 */
export function createPost(url: string): (body: string) => Promise<RawHttpResponse> {
  const { hostname, port, pathname } = new URL(url)
  const options = { hostname, port, path: pathname, method: 'POST', agent, timeout: TIMEOUT_MS }
  return (body) =>
    new Promise((resolve, reject) => {
      const refuse = (cause: Error) => reject(new Error(`fetch failed: ${url}`, { cause }))
      const length = Buffer.byteLength(body)
      const headers = { 'content-type': 'application/json', 'content-length': length }
      const outgoing = request({ ...options, headers }, (answer) => {
        const { statusCode, headers } = answer
        readText(answer).then((text) => resolve({ statusCode, headers, text }), refuse)
      })
      outgoing.once('timeout', () => outgoing.destroy(new Error('No answer in time.')))
      outgoing.once('error', refuse).end(body)
    })
}

/** The whole body as text. Throws when the connection closes early. */
export function readText(message: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.once('end', () => resolve(Buffer.concat(chunks).toString()))
    message.once('error', reject)
  })
}
