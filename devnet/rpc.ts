type Answer = { id: number; result?: unknown; error?: { code: number; message: string } }
export type RpcCall = readonly [method: string, params: unknown[]]

/** A whole deployment in one batch takes about a second, several on a busy machine. */
const TIMEOUT_MS = 30_000

/** The result of one JSON-RPC call. Throws an Error that names the method when the node refuses it. */
export async function callRpc<T>(url: string, method: string, params: unknown[] = []): Promise<T> {
  const [answer] = await callRpcBatch<T>(url, [[method, params]])
  if (answer?.error) throw new Error(`${method}: ${answer.error}`)
  return answer?.result as T
}

/** The node's answers in the order of the calls; `error` is the node's message when it refuses one. */
export async function callRpcBatch<T>(
  url: string,
  calls: RpcCall[],
): Promise<{ result?: T; error?: string }[]> {
  // An empty batch is an error in JSON-RPC.
  if (calls.length === 0) return []
  const body = calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`The node at ${url} answered HTTP ${response.status}.`)
  const answers = new Map(((await response.json()) as Answer[]).map((one) => [one.id, one]))
  return calls.map((_, id) => {
    const answer = answers.get(id)
    if (!answer) return { error: 'no answer' }
    return answer.error ? { error: answer.error.message } : { result: answer.result as T }
  })
}
