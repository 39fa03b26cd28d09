import { ServiceError, invalidRequest } from '../../domain/errors.js'
import { selectScoped } from '../connection/scope.js'
import type { Db } from '../connection/connect.js'
import type { Role } from '../../domain/roles.js'

/** Whose password an attempt would need; none for an e-mail that nobody has. */
export type Attempt = { userId: string | null; passwordHash: string | null }
/** Who tries to sign in, and where from. `email` is in lower case. */
export type Claim = { email: string; address: string }

type AttemptRow = Attempt & { retryAfter: number | null }

/**
 * Counts an attempt to prove a password, before it is looked at.
 *
 * @throws {ServiceError} RATE_LIMITED after too many failed ones.
 */
export async function beginSignIn(db: Db, { email, address }: Claim): Promise<Attempt> {
  const { rows } = await db.raw<{ rows: [AttemptRow] }>(
    `select user_id as "userId", password_hash as "passwordHash", retry_after as "retryAfter"
     from begin_sign_in(?, ?)`,
    [email, address],
  )
  const [{ retryAfter, ...attempt }] = rows
  if (retryAfter === null) return attempt
  const message = `Too many failed attempts to sign in. Try again in ${retryAfter} s.`
  throw new ServiceError('RATE_LIMITED', message, { window: '15 minutes', retryAfter })
}

/** Forgets the attempts that came before one that went well. */
export async function endSignIn(db: Db, { email, address }: Claim): Promise<void> {
  await db.raw('select end_sign_in(?, ?)', [email, address])
}

/** Sets a user's password and ends his sessions but this one. */
export async function changePassword(
  db: Db,
  { userId, sessionId }: { userId: string; sessionId: string },
  passwordHash: string,
): Promise<void> {
  await db.raw('select change_password(?, ?, ?)', [userId, sessionId, passwordHash])
}

/** A user as the others of his account see him. */
export type AccountMember = {
  id: string
  email: string
  name: string
  role: Role
  createdAt: Date
}

/** The members of an account, those who came first before the others. */
export async function readMembers(db: Db, accountId: string): Promise<AccountMember[]> {
  const query = db('membership as m')
    .join('app_user as u', 'u.id', 'm.user_id')
    .where('m.account_id', accountId)
    .orderBy(['m.created_at', 'u.id'])
    .select('u.id', 'u.email', 'u.name', 'm.role', 'm.created_at as createdAt')
  return selectScoped<AccountMember>(db, accountId, query)
}

type MemberId = { accountId: string; userId: string }

/**
 * Makes a member something else from his next request on. The transaction is scoped to account and acting member.
 *
 * @throws {ServiceError} NOT_FOUND for one who is no member, INVALID_REQUEST for the last owner.
 */
export async function changeRole(trx: Db, member: MemberId, role: Role): Promise<void> {
  await keepingOwner(member, membershipOf(trx, member).update({ role }))
}

/** Ends a membership and its sessions; errors as `changeRole`. */
export async function removeMember(trx: Db, member: MemberId): Promise<void> {
  await keepingOwner(member, membershipOf(trx, member).delete())
}

const membershipOf = (trx: Db, { accountId, userId }: MemberId) =>
  trx('membership').where({ account_id: accountId, user_id: userId })

/** @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
const RESTRICT_VIOLATION = '23001'

async function keepingOwner({ userId }: MemberId, change: PromiseLike<number>): Promise<void> {
  const changed = await Promise.resolve(change).catch((error: unknown) => {
    if ((error as { code?: string }).code !== RESTRICT_VIOLATION) throw error
    const message = 'An account needs an owner. Make another member an owner first.'
    throw invalidRequest('', message)
  })
  if (changed !== 1) throw new ServiceError('NOT_FOUND', `The account has no member ${userId}.`)
}
