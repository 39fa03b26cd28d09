import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

/** Servers close idle connections after 5 s or later. The client closes them earlier, to avoid that race. */
const IDLE_MS = 4_000
/** Logs of many blocks take a few megabytes. A larger response is rejected. */
const MAX_BYTES = 64 * 1024 * 1024
/** Longest `Retry-After` that is respected, so that a server's wrong header does not last a day. */
const LONGEST_REST_MS = 600_000

export type HttpAnswer = { status: number; retryAfterMs: number | undefined; text: string }
export type HttpPost = { post(body: string): Promise<HttpAnswer>; close(): void }

const unzip = promisify(gunzip)

/**
 * Posts JSON to one URL over persistent connections.
 *
 * @param timeoutMs - A slower response counts as missing.
 * @returns `post` rejects with the network's own error. It may contain the URL, so never pass it on.
 */
export function connectHttp(url: string, timeoutMs: number): HttpPost {
  const { request, Agent } = url.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS })
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip' }
  return {
    post: (body) =>
      new Promise((resolve, reject) => {
        const length = { 'content-length': Buffer.byteLength(body) }
        const outgoing = request(url, { method: 'POST', agent, headers: { ...headers, ...length } })
        const late = setTimeout(() => outgoing.destroy(new Error('late')), timeoutMs)
        outgoing.once('response', (answer) => void readAnswer(answer).then(resolve, reject))
        outgoing.once('error', reject)
        outgoing.once('close', () => clearTimeout(late))
        outgoing.end(body)
      }),
    close: () => agent.destroy(),
  }
}

async function readAnswer(answer: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error('The response is too large.')
    chunks.push(chunk)
  }
  const { statusCode = 0, headers } = answer
  const bytes = Buffer.concat(chunks)
  const isZipped = headers['content-encoding'] === 'gzip'
  const plain = isZipped ? await unzip(bytes, { maxOutputLength: MAX_BYTES }) : bytes
  return {
    status: statusCode,
    retryAfterMs: readRetryAfter(headers['retry-after'], Date.now()),
    text: plain.toString(),
  }
}

/**
 * Milliseconds of a `Retry-After` header with seconds or a date; at most ten minutes.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function readRetryAfter(text: string | undefined, now: number): number | undefined {
  if (!text) return undefined
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_REST_MS)
}
