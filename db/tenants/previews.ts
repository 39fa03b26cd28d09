import { findAnswer, type StoredAnswer } from './idempotency.js'
import { newId } from '../connection/ids.js'
import type { Db } from '../connection/connect.js'

/** How long what was shown may be done: a person reads it in less, and rates and balances are still much the same. */
const GOOD_FOR_MINUTES = 5

/** What was shown to an account. */
export type Preview = {
  accountId: string
  /** SHA-256 of what was asked for. */
  fingerprint: Buffer
  /** The plan, as it was shown. */
  body: unknown
}

/**
 * A preview is an answer under a key that the service has chosen, so that it lies where such answers lie and goes as
 * they go. No path of a request looks like this.
 */
const ENDPOINT = 'mcp preview_intent'

/** Keeps what is shown, in a transaction that sees the account. */
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
  if (!row) throw new Error('No row of a preview.')
  return { previewId, expiresAt: row.expires_at }
}

/** What the account was shown in the last minutes; undefined when it was not, or when somebody else was. */
export async function findPreview(
  db: Db,
  accountId: string,
  previewId: string,
): Promise<StoredAnswer | undefined> {
  return findAnswer(db, { accountId, endpoint: ENDPOINT, key: previewId })
}
