import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { findWebhookKey, publishWebhookKey } from '../db/webhooks/endpoints.js'
import { ServiceError } from '../domain/errors.js'
import { importWebhookKey, newWebhookKey, type PrivateWebhookKey } from '../webhooks/secrets.js'
import type { Db } from '../db/connection/connect.js'

/**
 * The key that opens the secrets of webhooks, from its file: a raw P-256 private key as 64 hex characters. At the
 * very first start, with no file and nothing sealed yet, it is made.
 *
 * @throws {ServiceError} MISCONFIGURED when it is not the one that secrets are sealed to.
 */
export async function loadWebhookKey(db: Db, file: string): Promise<PrivateWebhookKey> {
  const published = await findWebhookKey(db)
  const text = readText(file)
  if (text === undefined && published) throw misconfigured('is missing')
  if (text !== undefined && !/^[0-9a-f]{64}$/.test(text)) throw misconfigured('is not readable')
  const key = await importWebhookKey(text ?? (await createText(file)))
  if ((await publishWebhookKey(db, key)) !== key.id) throw misconfigured('is another one')
  return key
}

const misconfigured = (what: string) =>
  new ServiceError(
    'MISCONFIGURED',
    `WEBHOOK_KEY_FILE ${what}, but secrets of webhooks are sealed to it. Restore it from the backup.`,
  )

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw misconfigured('cannot be read')
  }
}

/** For its owner only, and never in the place of another one. */
async function createText(file: string): Promise<string> {
  const text = await newWebhookKey()
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return text
}
