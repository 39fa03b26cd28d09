import { createHmac } from 'node:crypto'

/** A message to sign. `atSeconds`: Unix time of the attempt. */
export type Message = { id: string; atSeconds: number; body: string }

/**
 * Signature headers of a message, in the format of Standard Webhooks.
 *
 * @param secrets - All valid secrets. The receiver may know any of them.
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
