import { createHash } from 'node:crypto'
import { selectScoped } from '../client/scope.js'
import type { Db } from '../client/connect.js'

/** The client's key of a request, and the fingerprint of the request. */
export type IdempotencyKey = {
  accountId: string
  endpoint: string
  key: string
  /** SHA-256 of the validated body. */
  fingerprint: Buffer
  /** False when the effect of the request must never be repeated, however late the key is used again. */
  expires: boolean
}

/** Longer than clients retry, and short enough to bound the table. */
const KEPT_DAYS = 30

export type StoredAnswer = { status: number; body: string; fingerprint: Buffer }

/** SHA-256 of a validated body, independent of the order of its members. */
export function fingerprintOf(body: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(body)).digest()
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

/** The stored response of a key, while the key is kept. */
export async function findAnswer(
  db: Db,
  key: Pick<IdempotencyKey, 'accountId' | 'endpoint' | 'key'>,
): Promise<StoredAnswer | undefined> {
  const query = db('idempotency_key')
    .where({ account_id: key.accountId, endpoint: key.endpoint, key: key.key })
    .whereRaw('(expires_at is null or expires_at > clock_timestamp())')
    .select('status', 'body', 'fingerprint')
  const [answer] = await selectScoped<StoredAnswer>(db, key.accountId, query)
  return answer
}

/**
 * Claims a key for the caller's transaction, or reclaims an expired one. A concurrent duplicate waits here until the
 * first transaction ends.
 *
 * @returns False when the key was claimed meanwhile: replay its stored response.
 */
export async function claimKey(trx: Db, key: IdempotencyKey): Promise<boolean> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(
    `insert into idempotency_key as kept (account_id, endpoint, key, fingerprint, status, body, expires_at)
     values (?, ?, ?, ?, 0, '', clock_timestamp() + ? * interval '1 day')
     on conflict (account_id, endpoint, key) do update set
       fingerprint = excluded.fingerprint, status = 0, body = '',
       created_at = excluded.created_at, expires_at = excluded.expires_at
     where kept.expires_at <= clock_timestamp()`,
    [key.accountId, key.endpoint, key.key, key.fingerprint, key.expires ? KEPT_DAYS : null],
  )
  return rowCount === 1
}

/**
 * Deletes at most `limit` expired keys.
 *
 * @returns How many were deleted. Less than `limit` when none is left.
 */
export async function deleteExpiredKeys(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    // Postgres rechecks the second condition on a row that was reclaimed meanwhile, but not the first.
    `delete from idempotency_key where (account_id, endpoint, key) in (
       select account_id, endpoint, key from idempotency_key
       where expires_at <= statement_timestamp() order by expires_at limit ?)
     and expires_at <= clock_timestamp()`,
    [limit],
  )
  return rowCount
}

/** Stores the response of a key that this transaction has claimed. */
export async function storeAnswer(
  trx: Db,
  key: IdempotencyKey,
  answer: { status: number; body: string },
): Promise<void> {
  await trx('idempotency_key')
    .where({ account_id: key.accountId, endpoint: key.endpoint, key: key.key })
    .update(answer)
}
