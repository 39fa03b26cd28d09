import { WebhookVerificationError } from '../errors.js'
import type { EventType } from '../resources/event.js'

/** The body of a webhook. `id` is the same on every attempt, so that you can process it once. */
export type WebhookEvent = {
  id: string
  type: EventType
  /** The intent or wallet of the event. Absent for events of the account. */
  intentId?: string
  walletId?: string
  timestamp: string
  data: { [field: string]: unknown }
}

type HeaderValues = { readonly [name: string]: string | readonly string[] | undefined }
export type WebhookHeaders = { get(name: string): string | null } | HeaderValues

/** Maximum clock skew, and maximum age of a replayed message. */
const TOLERANCE_S = 300

/**
 * Verifies the signature of a webhook and returns its event.
 *
 * @param payload - The raw body. A parsed and serialized body may differ.
 * @param secret - `whsec_…`, or several during a rotation.
 * @throws {WebhookVerificationError}
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export async function verifyWebhook(
  payload: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => {
    const value = readHeader(headers, `webhook-${name}`)
    if (!value) throw refusal(`The header webhook-${name} is missing.`)
    return value
  }) as [string, string, string]
  const age = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!/^\d+$/.test(timestamp) || age > TOLERANCE_S) {
    throw refusal('The webhook is too old, or the clock of one side is wrong.')
  }
  const body = toBytes(payload)
  const signed = join(new TextEncoder().encode(`${id}.${timestamp}.`), body)
  for (const one of [secret].flat()) {
    const key = await importKey(one)
    for (const signature of readSignatures(signatures)) {
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) {
        return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
      }
    }
  }
  throw refusal('The webhook was not signed with this secret.')
}

const refusal = (message: string) =>
  new WebhookVerificationError({ code: 'WEBHOOK_VERIFICATION', message })

function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const values = headers as HeaderValues
  const key = Object.keys(values).find((one) => one.toLowerCase() === name)
  const value = key === undefined ? undefined : values[key]
  return typeof value === 'string' ? value : value?.[0]
}

/** The signatures of version `v1`, as bytes. */
function readSignatures(text: string): Uint8Array<ArrayBuffer>[] {
  const known = text.split(' ').filter((one) => one.startsWith('v1,'))
  return known.flatMap((one) => fromBase64(one.slice(3)) ?? [])
}

/** @throws {TypeError} for an invalid webhook secret. */
async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''))
  if (!bytes?.length)
    throw new TypeError('The webhook secret is not valid. It looks like `whsec_…`.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}

function toBytes(payload: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof payload === 'string') return new TextEncoder().encode(payload)
  if (payload instanceof Uint8Array) return payload
  if (payload instanceof ArrayBuffer) return new Uint8Array(payload)
  throw new TypeError('Pass the raw body of the webhook as text or bytes.')
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}
