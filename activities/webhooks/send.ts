import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { ANSWER_MS, type AttemptFailure } from '../../domain/events/webhooks.js'
import { SendFailure } from './failure.js'
import type { Address, Guard } from './address.js'

/** Bytes of a response that are stored, and that are read before the connection is closed. */
const KEPT_BYTES = 1_024
const READ_BYTES = 65_536

export type EndpointResponse = { status: number; body: string }
type Outgoing = { url: string; headers: Record<string, string>; body: string }

/**
 * Posts a body on a new connection to the address that the guard resolves. Redirects are not followed. The status counts
 * as soon as it arrives, even when the response body breaks off.
 *
 * @throws {SendFailure}
 */
export async function send(
  guard: Guard,
  outgoing: Outgoing,
  answerMs = ANSWER_MS,
): Promise<EndpointResponse> {
  const ended = new AbortController()
  const deadline = setTimeout(() => {
    ended.abort()
  }, answerMs)
  try {
    if (guard.refusal(outgoing.url) !== undefined) throw new SendFailure('address_refused')
    const url = new URL(outgoing.url)
    const address = await Promise.race([guard.pin(url), untilLate(ended.signal)])
    const response = await post(url, { ...outgoing, address, signal: ended.signal })
    return { status: response.statusCode ?? 0, body: await readStart(response) }
  } finally {
    clearTimeout(deadline)
    ended.abort()
  }
}

const untilLate = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new SendFailure('timed_out'))
    })
  })

type Pinned = Outgoing & { address: Address; signal: AbortSignal }

function post(url: URL, { headers, body, address, signal }: Pinned): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const { family } = address
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      // A pooled connection may lead to another address.
      agent: false,
      family,
      signal,
      lookup: (_name, options, found) => {
        if (options.all) found(null, [address])
        else found(null, address.address, family)
      },
    })
    outgoing.once('response', resolve)
    outgoing.on('error', (error) => {
      reject(new SendFailure(signal.aborted ? 'timed_out' : reasonOf(error)))
    })
    outgoing.end(body)
  })
}

/** Maps Node's error codes. TLS codes are like `CERT_HAS_EXPIRED` and `ERR_TLS_CERT_ALTNAME_INVALID`. */
function reasonOf(error: Error): AttemptFailure {
  const { code = '' } = error as { code?: string }
  const isOfTls = /^(ERR_TLS|ERR_SSL|CERT|DEPTH|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)
  return isOfTls ? 'tls_failed' : 'connection_failed'
}

/** The first kilobyte as text. Replaces invalid characters and drops zeros, which JSON in Postgres rejects. */
async function readStart(response: IncomingMessage): Promise<string> {
  const kept: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (length < KEPT_BYTES) kept.push(chunk)
      length += chunk.length
      if (length > READ_BYTES) break
    }
  } catch {
    // The status counts, even when the body breaks off.
  }
  response.destroy()
  const start = Buffer.concat(kept).subarray(0, KEPT_BYTES)
  return new TextDecoder().decode(start).replaceAll('\0', '')
}
