import { z } from 'zod'
import { ServiceError } from '../../../domain/errors.js'
import { createRouteReader } from './fees.js'
import type { AttestedMessage, Attestations } from '../bridge.js'

const TIMEOUT_MS = 5_000
/** Fees and messages are small; an answer that is not is none of this service's. */
const MAX_BYTES = 1_000_000

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
 * Circle's attestation service.
 *
 * @see https://developers.circle.com/api-reference/cctp/all/get-messages-v-2
 */
export function connectService(baseUrl: string): Omit<Attestations, 'bridge'> {
  return {
    readRoutes: createRouteReader((path, schema) => ask(new URL(path, baseUrl), schema)),
    async readMessages(domain, txHash) {
      const url = new URL(`/v2/messages/${domain}?transactionHash=${txHash}`, baseUrl)
      const answer = await ask(url, messages)
      return answer?.messages.map(toAttested) ?? []
    },
    async reattest(nonce) {
      await request(new URL(`/v2/reattest/${nonce}`, baseUrl), 'POST')
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
async function ask<S extends z.ZodType>(url: URL, schema: S): Promise<z.infer<S> | undefined> {
  const answer = await request(url, 'GET')
  if (answer === undefined) return undefined
  const { success, data, error } = schema.safeParse(answer)
  if (success) return data
  throw silent({ cause: error })
}

/** The JSON of an answer, undefined for a 404. */
async function request(url: URL, method: string): Promise<unknown> {
  try {
    const response = await fetch(url, { method, signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (response.status === 404) return undefined
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
    const text = await response.text()
    if (text.length > MAX_BYTES) throw new Error('too long')
    return JSON.parse(text) as unknown
  } catch (error) {
    throw silent({ cause: error })
  }
}

function silent(options: { cause: unknown }): ServiceError {
  const message = 'The attestation service of the bridge does not answer.'
  return new ServiceError('NETWORK_ERROR', message, {}, options)
}
