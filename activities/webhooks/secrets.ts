import { createHash, randomBytes } from 'node:crypto'
import { suite } from '../../custody/seal.js'
import { openSealed, sealTo } from '../../custody/hpke.js'

/** The public key that signing secrets are sealed to. The private key is in a file of the worker. */
export type WebhookKey = { id: string; publicKey: Uint8Array }
export type PrivateWebhookKey = WebhookKey & { privateKey: CryptoKey }

/** The row of a sealed secret. The secret does not open when it is copied to another row. */
export type SecretContext = { webhookId: string; accountId: string; keyId: string }

/** Standard Webhooks requires 24 to 64 bytes. */
const SECRET_BYTES = 32
const PREFIX = 'whsec_'

/**
 * A new signing secret, as its owner sees it once.
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** Seals a secret to the worker's key. Returns the encapsulated key (65 bytes) followed by the ciphertext. */
export function sealSecret(
  { publicKey }: WebhookKey,
  secret: string,
  context: SecretContext,
): Buffer {
  const bytes = Buffer.from(secret.slice(PREFIX.length), 'base64')
  return sealTo(publicKey, bytes, associatedData(context))
}

/**
 * The secret bytes that sign deliveries.
 *
 * @throws Error when the secret was sealed to another key, belongs to another row or was altered.
 */
export function openSecret(
  key: PrivateWebhookKey,
  sealed: Uint8Array,
  context: SecretContext,
): Promise<Buffer> {
  return openSealed(key, sealed, associatedData(context))
}

const associatedData = ({ webhookId, accountId, keyId }: SecretContext): Buffer =>
  Buffer.from(['v1', webhookId, accountId, keyId, 'webhook'].join('|'))

/** Imports a raw P-256 private key of 64 hex characters, and derives its public key and id. */
export async function importWebhookKey(hex: string): Promise<PrivateWebhookKey> {
  const privateKey = await suite.kem.deserializePrivateKey(
    new Uint8Array(Buffer.from(hex, 'hex')).buffer,
  )
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', privateKey)
  const publicKey = Buffer.concat([
    Buffer.from([4]),
    ...[x, y].map((part) => Buffer.from(part, 'base64url')),
  ])
  const digest = createHash('sha256').update(publicKey).digest('hex')
  return { id: `whk_${digest.slice(0, 16)}`, publicKey, privateKey }
}

/** A new private key in the format of `importWebhookKey`. */
export async function newWebhookKey(): Promise<string> {
  const { privateKey } = await suite.kem.generateKeyPair()
  return Buffer.from(await suite.kem.serializePrivateKey(privateKey)).toString('hex')
}
