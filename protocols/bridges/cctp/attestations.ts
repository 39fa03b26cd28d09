import { z } from 'zod'
import { readRetryAfter } from '../../../chains/rpc/http.js'
import { ServiceError } from '../../../domain/errors.js'
import { createTurns, type Pace, type Turns } from '../turns.js'
import { feesAnswer, toFees } from './fees.js'
import { REQUEST_TIMEOUT_MS, RETRY_MS } from '../../../durations.js'
import type { AttestedMessage, Attestations } from '../bridge.js'

/** Fees and messages are small; an answer that is not is none of this service's. */
const MAX_BYTES = 1_000_000

/**
 * Circle answers 35 requests a second, and above that none at all for five minutes. Below it together with
 * those under way, which a network that was stuck may deliver in one moment.
 *
 * @see https://developers.circle.com/cctp/howtos/resolve-stuck-attestation
 */
const pace: Pace = { perSecond: 22, burst: 3 }
/** After a 429 that names no time ahead. */
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
 * Circle's attestation service. Whatever is asked of it takes its turn.
 *
 * @see https://developers.circle.com/api-reference/cctp/all/get-messages-v-2
 */
export function connectService(baseUrl: string): Omit<Attestations, 'bridge'> {
  const turns = createTurns(pace)
  const ask = <S extends z.ZodType>(path: string, schema: S) =>
    read(turns, new URL(path, baseUrl), schema)
  return {
    restMs: turns.restMs,
    async readFees(from, to) {
      const path = `/v2/burn/USDC/fees/${from.cctp.domain}/${to.cctp.domain}`
      return toFees((await ask(path, feesAnswer)) ?? [])
    },
    async readMessages(domain, txHash) {
      const answer = await ask(`/v2/messages/${domain}?transactionHash=${txHash}`, messages)
      return answer?.messages.map(toAttested) ?? []
    },
    async reattest(nonce) {
      return (await request(turns, new URL(`/v2/reattest/${nonce}`, baseUrl), 'POST')).ok
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

/** The answer of the service, undefined for a 404. */
async function read<S extends z.ZodType>(
  turns: Turns,
  url: URL,
  schema: S,
): Promise<z.infer<S> | undefined> {
  const { ok, status, text } = await request(turns, url, 'GET')
  if (status === 404) return undefined
  try {
    if (!ok) throw new Error(`HTTP ${status}`)
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw silent({ cause: error })
  }
}

/** An answer, also one that says that the question was wrong. */
type Answer = { ok: boolean; status: number; text: string }

async function request(turns: Turns, url: URL, method: string): Promise<Answer> {
  if (!(await turns.take())) throw leftAlone(turns)
  try {
    const response = await fetch(url, { method, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
    const { ok, status } = response
    if (status === 429) turns.close(blockMs(response))
    if (status === 429 || status >= 500) throw new Error(`HTTP ${status}`)
    const text = await response.text()
    if (text.length > MAX_BYTES) throw new Error('too long')
    return { ok, status, text }
  } catch (error) {
    throw turns.closedMs() > 0 ? leftAlone(turns) : silent({ cause: error })
  }
}

/** How long a host that was asked too much wants to be left alone, ms. */
function blockMs({ headers }: Response): number {
  const text = headers.get('retry-after') ?? undefined
  const ms = readRetryAfter(text, Date.now())
  return ms ? Math.max(ms, RETRY_MS) : BLOCKED_MS
}

function silent(options: { cause: unknown }): ServiceError {
  const message = 'The attestation service of the bridge does not answer.'
  return new ServiceError('NETWORK_ERROR', message, {}, options)
}

function leftAlone(turns: Turns): ServiceError {
  const message = 'The attestation service of the bridge was asked too much and is left alone.'
  const retryAfter = Math.ceil(turns.closedMs() / 1_000)
  return new ServiceError('NETWORK_ERROR', message, { retryAfter })
}
