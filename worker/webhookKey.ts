import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { findWebhookKey, publishWebhookKey } from '../db/webhooks/endpoints.js'
import { ServiceError } from '../domain/errors.js'
import {
  importWebhookKey,
  newWebhookKey,
  type PrivateWebhookKey,
} from '../activities/webhooks/secrets.js'
import type { Db } from '../db/client/connect.js'

/**
 * Loads the key that opens webhook secrets: a raw P-256 private key as 64 hex characters. Creates the file at the first
 * start of a deployment, when no secret is sealed yet.
 *
 * @throws {ServiceError} MISCONFIGURED when secrets are sealed to another key.
 */
export async function loadWebhookKey(db: Db, file: string): Promise<PrivateWebhookKey> {
  const published = await findWebhookKey(db)
  const text = readText(file)
  if (text === undefined && published) throw misconfigured('is missing')
  if (text !== undefined && !/^[0-9a-f]{64}$/.test(text)) throw misconfigured('is malformed')
  const key = await importWebhookKey(text ?? (await createText(file)))
  if ((await publishWebhookKey(db, key)) !== key.id) throw misconfigured('holds another key')
  return key
}

const misconfigured = (what: string) =>
  new ServiceError(
    'MISCONFIGURED',
    `WEBHOOK_KEY_FILE ${what}, but webhook secrets are sealed to its key. Restore it from the backup.`,
  )

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw misconfigured('cannot be read')
  }
}

/** Creates a key file that only its owner can read. Never overwrites a file. */
async function createText(file: string): Promise<string> {
  const text = await newWebhookKey()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return text
}
