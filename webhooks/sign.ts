import { createHmac } from 'node:crypto'

/** A message as it is signed. `atSeconds`: Unix time of this try. */
export type Message = { id: string; atSeconds: number; body: string }

/**
 * The headers by which a receiver knows that a message is ours, as Standard Webhooks has them.
 *
 * @param secrets - Any one of which the receiver may know.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signedHeaders(
  { id, atSeconds, body }: Message,
  secrets: Buffer[],
): Record<string, string> {
  const content = `${id}.${atSeconds}.${body}`
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(content).digest('base64')}`,
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': signatures.join(' '),
  }
}
