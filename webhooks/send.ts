import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { ANSWER_MS, type AttemptError } from '../domain/webhooks.js'
import { SendFailure } from './failure.js'
import type { Address, Guard } from './address.js'

/** What is kept of an answer, and what is read of it before the connection is cut, bytes. */
const KEPT_BYTES = 1_024
const READ_BYTES = 65_536

export type Answer = { status: number; body: string }
type Outgoing = { url: string; headers: Record<string, string>; body: string }

/**
 * Posts a body, on a connection of its own, to the address that the guard has found. Redirects are answers like
 * others. The status counts as soon as it is there, whatever becomes of the answer's body.
 *
 * @throws {SendFailure}
 */
export async function send(
  guard: Guard,
  outgoing: Outgoing,
  answerMs = ANSWER_MS,
): Promise<Answer> {
  const over = new AbortController()
  const deadline = setTimeout(() => {
    over.abort()
  }, answerMs)
  try {
    if (guard.refusal(outgoing.url) !== undefined) throw new SendFailure('address_refused')
    const url = new URL(outgoing.url)
    const address = await Promise.race([guard.pin(url), untilLate(over.signal)])
    const response = await post(url, { ...outgoing, address, signal: over.signal })
    return { status: response.statusCode ?? 0, body: await readStart(response) }
  } finally {
    clearTimeout(deadline)
    over.abort()
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
      // A connection that was opened for another delivery may lead elsewhere.
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

/** Node names what it refuses of a certificate: `CERT_HAS_EXPIRED`, `ERR_TLS_CERT_ALTNAME_INVALID`. */
function reasonOf(error: Error): AttemptError {
  const { code = '' } = error as { code?: string }
  const isOfTls = /^(ERR_TLS|ERR_SSL|CERT|DEPTH|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)
  return isOfTls ? 'tls_failed' : 'connection_failed'
}

/** The first kilobyte as text; invalid characters are replaced, and zeros, which JSON in Postgres refuses, left out. */
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
    // The status has been given: what broke off after it does not matter.
  }
  response.destroy()
  const start = Buffer.concat(kept).subarray(0, KEPT_BYTES)
  return new TextDecoder().decode(start).replaceAll('\0', '')
}
