import { hash, randomBytes } from 'node:crypto'
import type { Db } from '../client/connect.js'
import type { Tier } from '../../domain/tiers.js'

/** Validity of a token. */
const LIVES_MS = 15 * 60_000

const tokenFormat = /^svc_rt_[0-9a-f]{48}$/

/** SHA-256 of a read token. Undefined for a malformed one. */
export const readTokenDigest = (token: string): Buffer | undefined =>
  tokenFormat.test(token) ? hash('sha256', token, 'buffer') : undefined

/** The result of an authenticated token, which can read one intent. */
export type TokenHolder = {
  /** SHA-256 of the token, in base64. */
  keyDigest: string
  accountId: string
  intentId: string
  scopes: readonly ['read']
  tier: Tier
  /** Requests with this token in this minute, including this one. */
  used: number
  /** Unix time in seconds at which the minute ends. */
  resetAt: number
  /** Seconds until then. At least 1. */
  retryAfter: number
}

/**
 * Creates a token for an intent of the account, in the caller's transaction.
 *
 * @returns The token. It is not stored and cannot be shown again.
 */
export async function createReadToken(
  trx: Db,
  accountId: string,
  intentId: string,
): Promise<{ token: string; expiresAt: Date }> {
  const token = `svc_rt_${randomBytes(24).toString('hex')}`
  const expiresAt = new Date(Date.now() + LIVES_MS)
  await trx('read_token').insert({
    ...{ token_hash: readTokenDigest(token), account_id: accountId, intent_id: intentId },
    expires_at: expiresAt,
  })
  return { token, expiresAt }
}

/** Authenticates a token and counts its use. Undefined when it is unknown or expired, or its account is suspended. */
export async function admitToken(db: Db, token: string): Promise<TokenHolder | undefined> {
  const digest = readTokenDigest(token)
  if (!digest) return undefined
  type Row = Omit<TokenHolder, 'keyDigest' | 'scopes' | 'resetAt'> & { resetAt: bigint }
  const { rows } = await db.raw<{ rows: Row[] }>(
    `select account_id as "accountId", intent_id as "intentId", plan as tier, used,
       reset_at as "resetAt", retry_after as "retryAfter" from admit_token(?)`,
    [digest],
  )
  const [row] = rows
  if (!row) return undefined
  const [keyDigest, resetAt] = [digest.toString('base64'), Number(row.resetAt)]
  return { ...row, keyDigest, resetAt, scopes: ['read'] }
}

/**
 * Deletes at most `limit` expired tokens.
 *
 * @returns How many were deleted. Less than `limit` when none is left.
 */
export async function deleteExpiredTokens(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `delete from read_token where token_hash in (
       select token_hash from read_token where expires_at <= statement_timestamp()
       order by expires_at limit ?)`,
    [limit],
  )
  return rowCount
}
