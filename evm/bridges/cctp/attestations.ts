import { z } from 'zod'
import { readRetryAfter } from '../../rpc/http.js'
import { ServiceError } from '../../../domain/errors.js'
import { createRateLimiter, type RequestRate, type RateLimiter } from '../rateLimiter.js'
import { feesAnswer, toFees } from './fees.js'
import { REQUEST_TIMEOUT_MS, RETRY_MS } from '../../../runtime/durations.js'
import type { AttestedMessage, Attestations } from '../bridge.js'

/** Fees and messages are small. A larger response is rejected. */
const MAX_BYTES = 1_000_000

/**
 * Circle allows 35 requests a second and blocks a client above that for five minutes. This rate leaves a margin for
 * delayed requests that a recovering network delivers at once.
 *
 * @see https://developers.circle.com/cctp/howtos/resolve-stuck-attestation
 */
const rate: RequestRate = { perSecond: 22, burst: 3 }
/** Delay after a 429 without a usable `Retry-After`, ms. */
const BLOCKED_MS = 5 * 60_000

const hex = z.string().regex(/^0x([0-9a-fA-F]{2})*$/)
const messages = z.object({
  messages: z
    .array(
      z.object({
        eventNonce: z.string().max(80).nullish(),
        message: z.string().max(20_000).nullish(),
        attestation: z.string().max(20_000).nullish(),
        status: z.string(),
        delayReason: z.string().max(200).nullish(),
      }),
    )
    .max(500),
})

/**
 * Circle's attestation service. All requests share one rate limiter.
 *
 * @see https://developers.circle.com/api-reference/cctp/all/get-messages-v-2
 */
export function connectService(baseUrl: string): Omit<Attestations, 'bridge'> {
  const rateLimiter = createRateLimiter(rate)
  const ask = <S extends z.ZodType>(path: string, schema: S) =>
    read(rateLimiter, new URL(path, baseUrl), schema)
  return {
    restMs: rateLimiter.restMs,
    async readFees(from, to) {
      const path = `/v2/burn/USDC/fees/${from.cctp.domain}/${to.cctp.domain}`
      return toFees((await ask(path, feesAnswer)) ?? [])
    },
    async readMessages(domain, txHash) {
      const answer = await ask(`/v2/messages/${domain}?transactionHash=${txHash}`, messages)
      return answer?.messages.map(toAttested) ?? []
    },
    async reattest(nonce) {
      return (await request(rateLimiter, new URL(`/v2/reattest/${nonce}`, baseUrl), 'POST')).ok
    },
  }
}

function toAttested(raw: z.infer<typeof messages>['messages'][number]): AttestedMessage {
  const { success, data } = z.object({ message: hex, attestation: hex }).safeParse(raw)
  const isComplete = raw.status === 'complete' && success
  return {
    eventNonce: raw.eventNonce ?? '',
    message: isComplete ? data.message.toLowerCase() : undefined,
    attestation: isComplete ? data.attestation.toLowerCase() : undefined,
    delayReason: raw.delayReason ?? undefined,
  }
}

/** The parsed response of the service; undefined for a 404. */
async function read<S extends z.ZodType>(
  rateLimiter: RateLimiter,
  url: URL,
  schema: S,
): Promise<z.infer<S> | undefined> {
  const { ok, status, text } = await request(rateLimiter, url, 'GET')
  if (status === 404) return undefined
  try {
    if (!ok) throw new Error(`HTTP ${status}`)
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw unreachable({ cause: error })
  }
}

/** A response, including client errors. */
type ServiceResponse = { ok: boolean; status: number; text: string }

async function request(
  rateLimiter: RateLimiter,
  url: URL,
  method: string,
): Promise<ServiceResponse> {
  if (!(await rateLimiter.take())) throw throttled(rateLimiter)
  try {
    const response = await fetch(url, { method, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
    const { ok, status } = response
    if (status === 429) rateLimiter.close(blockMs(response))
    if (status === 429 || status >= 500) throw new Error(`HTTP ${status}`)
    const text = await response.text()
    if (text.length > MAX_BYTES) throw new Error('too long')
    return { ok, status, text }
  } catch (error) {
    throw rateLimiter.closedMs() > 0 ? throttled(rateLimiter) : unreachable({ cause: error })
  }
}

/** Delay that a 429 requests, ms. */
function blockMs({ headers }: Response): number {
  const text = headers.get('retry-after') ?? undefined
  const ms = readRetryAfter(text, Date.now())
  return ms ? Math.max(ms, RETRY_MS) : BLOCKED_MS
}

function unreachable(options: { cause: unknown }): ServiceError {
  const message = 'The attestation service of the bridge does not answer.'
  return new ServiceError('NETWORK_ERROR', message, {}, options)
}

function throttled(rateLimiter: RateLimiter): ServiceError {
  const message = 'The attestation service of the bridge throttles requests. They are delayed.'
  const retryAfter = Math.ceil(rateLimiter.closedMs() / 1_000)
  return new ServiceError('NETWORK_ERROR', message, { retryAfter })
}
