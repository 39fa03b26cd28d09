import { ServiceError } from '../../domain/errors.js'
import { newToken, tokenDigest } from './sessions.js'
import { readMembers } from './users.js'
import type { Db } from '../client/connect.js'

type MemberOf = { accountId: string; userId: string }

/**
 * Creates a link with which a member chooses a new password. The transaction is scoped to the account and to the
 * session of an owner. A new link replaces the previous one.
 *
 * @returns The token of the link. It is not stored and cannot be shown again.
 * @throws {ServiceError} NOT_FOUND for a user who is not a member, FORBIDDEN for one who is also a member of another
 *   account, or an operator.
 */
export async function createPasswordReset(trx: Db, member: MemberOf): Promise<string> {
  await assertMember(trx, member)
  const token = newToken()
  const { rows } = await trx.raw<{ rows: [{ made: boolean }] }>(
    'select create_password_reset(?, ?) as made',
    [tokenDigest(token) ?? null, member.userId],
  )
  if (rows[0].made) return token
  const message =
    'This member is an operator or also belongs to another account. Ask an operator to reset the password.'
  throw new ServiceError('FORBIDDEN', message)
}

/**
 * Creates such a link for any member, with the role of the database owner.
 *
 * @throws {ServiceError} NOT_FOUND for an e-mail that no member has.
 */
export async function createOperatorReset(
  db: Db,
  { accountId, email }: { accountId: string; email: string },
): Promise<string> {
  const token = newToken()
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into password_reset (user_id, token_hash, account_id)
     select u.id, ?, m.account_id from membership m join app_user u on u.id = m.user_id
     where m.account_id = ? and u.email = ?
     on conflict (user_id) do update set token_hash = excluded.token_hash, account_id = excluded.account_id,
       made_by = null, expires_at = excluded.expires_at`,
    [tokenDigest(token) ?? null, accountId, email],
  )
  if (rowCount === 1) return token
  throw new ServiceError('NOT_FOUND', `The account ${accountId} has no member ${email}.`)
}

/**
 * Uses a link: sets the password of its user and ends their sessions.
 *
 * @throws {ServiceError} NOT_FOUND when the link is used, replaced or expired.
 */
export async function usePasswordReset(db: Db, token: string, passwordHash: string): Promise<void> {
  const { rows } = await db.raw<{ rows: [{ used: boolean }] }>(
    'select use_password_reset(?, ?) as used',
    [tokenDigest(token) ?? null, passwordHash],
  )
  if (rows[0].used) return
  const message = 'This link was used or replaced, or has expired. Ask an owner for a new one.'
  throw new ServiceError('NOT_FOUND', message)
}

async function assertMember(trx: Db, { accountId, userId }: MemberOf): Promise<void> {
  const members = await readMembers(trx, accountId)
  if (members.some(({ id }) => id === userId)) return
  throw new ServiceError('NOT_FOUND', `The account has no member ${userId}.`)
}
