import { findAnswer, type StoredAnswer } from './idempotency.js'
import { newId } from '../client/ids.js'
import type { Db } from '../client/connect.js'

/** Validity of a preview: longer than a person reads it, while rates and balances are nearly unchanged. */
const GOOD_FOR_MINUTES = 5

/** A preview that an account has received. */
export type Preview = {
  accountId: string
  /** SHA-256 of the previewed request. */
  fingerprint: Buffer
  /** The plan, as previewed. */
  body: unknown
}

/**
 * A preview is stored as the response of an idempotency key chosen by the service, so that it expires like one. No
 * request path equals this name.
 */
const ENDPOINT = 'mcp preview_intent'

/** Stores a preview, in a transaction with the account's scope. */
export async function insertPreview(
  trx: Db,
  { accountId, fingerprint, body }: Preview,
): Promise<{ previewId: string; expiresAt: Date }> {
  const previewId = newId('preview_')
  const [row] = await trx('idempotency_key')
    .insert({
      ...{ account_id: accountId, endpoint: ENDPOINT, key: previewId, fingerprint },
      ...{ status: 200, body: JSON.stringify(body) },
      expires_at: trx.raw(`clock_timestamp() + ? * interval '1 minute'`, [GOOD_FOR_MINUTES]),
    })
    .returning<{ expires_at: Date }[]>('expires_at')
  if (!row) throw new Error('The preview was not stored.')
  return { previewId, expiresAt: row.expires_at }
}

/** A preview that the same caller received in the last minutes, or undefined. */
export async function findPreview(
  db: Db,
  accountId: string,
  previewId: string,
): Promise<StoredAnswer | undefined> {
  return findAnswer(db, { accountId, endpoint: ENDPOINT, key: previewId })
}
