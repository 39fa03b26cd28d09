import { z } from 'zod'
import { ServiceError } from '../../../domain/errors.js'
import { finalityThreshold } from './contracts.js'
import type { BridgeSpeed } from '../../../domain/intent.js'

/** A message as the attestation service knows it. Without `attestation` it is not attested yet. */
export type AttestedMessage = {
  eventNonce: string
  message: string | undefined
  attestation: string | undefined
  /** Why it takes longer than asked for, in the service's own words. */
  delayReason: string | undefined
}

/** What a transfer costs: millionths of its amount. */
export type BridgeFee = { speed: BridgeSpeed; feeMillionths: bigint }

/**
 * Circle's attestation service. All of it throws NETWORK_ERROR when the service does not answer, or
 * answers what nobody can read.
 *
 * @see https://developers.circle.com/api-reference/cctp/all/get-messages-v-2
 */
export type Attestations = {
  /** The messages of a burn transaction; none until the service has seen it. */
  readMessages(domain: number, txHash: string): Promise<AttestedMessage[]>
  /** Fees now, the fast one first. */
  readFees(source: number, destination: number): Promise<BridgeFee[]>
  /** Asks for a new attestation of a message that has expired. */
  reattest(nonce: string): Promise<void>
}

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
/** `minimumFee` is in basis points, and may be a fraction of one. */
const fees = z
  .array(
    z.object({
      finalityThreshold: z.coerce.number(),
      minimumFee: z.coerce.number().min(0).max(1_000),
    }),
  )
  .max(20)

export function connectAttestations(baseUrl: string): Attestations {
  const ask = (path: string, method = 'GET') => request(new URL(path, baseUrl), method)
  return {
    async readMessages(domain, txHash) {
      const answer = await ask(`/v2/messages/${domain}?transactionHash=${txHash}`)
      return answer === undefined ? [] : parse(messages, answer).messages.map(toAttested)
    },
    async readFees(source, destination) {
      const answer = await ask(`/v2/burn/USDC/fees/${source}/${destination}`)
      if (answer === undefined) return []
      return parse(fees, answer)
        .map(({ finalityThreshold: threshold, minimumFee }) => ({
          speed: speedOf(threshold),
          feeMillionths: BigInt(Math.ceil(minimumFee * 100)),
        }))
        .sort((a, b) => finalityThreshold[a.speed] - finalityThreshold[b.speed])
    },
    async reattest(nonce) {
      await ask(`/v2/reattest/${nonce}`, 'POST')
    },
  }
}

const speedOf = (threshold: number): BridgeSpeed =>
  threshold <= finalityThreshold.fast ? 'fast' : 'standard'

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

function parse<S extends z.ZodType>(schema: S, answer: unknown): z.infer<S> {
  const { success, data, error } = schema.safeParse(answer)
  if (success) return data
  throw silent({ cause: error })
}

function silent(options: { cause: unknown }): ServiceError {
  const message = 'The attestation service of the bridge does not answer.'
  return new ServiceError('NETWORK_ERROR', message, {}, options)
}
