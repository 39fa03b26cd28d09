import { createHmac, randomBytes } from 'node:crypto'

export type ForwardResult = { status?: number; ms: number; error?: string }

type Body = { id: string; type: string; timestamp: string; data: unknown }

/** A receiver must answer within this time. */
const TIMEOUT_MS = 15_000

export const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

export const isSecret = (text: string): boolean => /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(text)

/**
 * The headers that prove the sender of a body.
 *
 * @param at - Unix time in seconds.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
function signHeaders(secret: string, id: string, { at, text }: { at: number; text: string }) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${at}.${text}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${signature}`,
  }
}

/** Sends an event to a receiver as the service does. Never throws: the result contains the error. */
export async function sendWebhook(
  url: string,
  secret: string,
  { id, type, timestamp, data }: Body,
): Promise<ForwardResult> {
  const text = JSON.stringify({ id, type, timestamp, data })
  const begun = Date.now()
  const signed = signHeaders(secret, id, { at: Math.floor(begun / 1000), text })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'steward-cli', ...signed },
      body: text,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.body?.cancel()
    return { status: response.status, ms: Date.now() - begun }
  } catch (error) {
    return { ms: Date.now() - begun, error: describe(error) }
  }
}

function describe(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer'
  const { code, message } = ((error as Error).cause ?? {}) as { code?: string; message?: string }
  return code === 'ECONNREFUSED' ? 'connection refused' : (code ?? message ?? 'no connection')
}
