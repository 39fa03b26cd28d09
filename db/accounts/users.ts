import { ServiceError, invalidRequest } from '../../domain/errors.js'
import { coalesce } from '../client/coalesce.js'
import { perPool } from '../client/perPool.js'
import { selectScoped } from '../client/scope.js'
import type { Db } from '../client/connect.js'
import type { Role } from '../../domain/roles.js'

/** A user with the e-mail address of a sign-in attempt. */
export type SignInCandidate = { userId: string; passwordHash: string }
/** The subject of a sign-in attempt. `email` is in lower case. */
export type SignInSubject = { email: string; address: string }

type AttemptRow = SignInCandidate & { retryAfter: number | null }

/**
 * Counts a sign-in attempt before its password is checked.
 *
 * @returns The users with this e-mail, at most ten.
 * @throws {ServiceError} RATE_LIMITED after too many failed attempts.
 */
export async function beginSignIn(
  db: Db,
  { email, address }: SignInSubject,
): Promise<SignInCandidate[]> {
  const { rows } = await db.raw<{ rows: AttemptRow[] }>(
    `select user_id as "userId", password_hash as "passwordHash", retry_after as "retryAfter"
     from begin_sign_in(?, ?)`,
    [email, address],
  )
  const retryAfter = rows[0]?.retryAfter ?? null
  if (retryAfter === null) return rows
  const message = `Too many failed attempts to sign in. Try again in ${retryAfter} s.`
  throw new ServiceError('RATE_LIMITED', message, { window: '15 minutes', retryAfter })
}

const familiarityOf = perPool((db) =>
  coalesce(async (subjects: SignInSubject[]) => {
    const { rows } = await db.raw<{ rows: { isKnown: boolean }[] }>(
      `select knows_address(email, address) as "isKnown"
       from unnest(?::text[], ?::text[]) with ordinality as s (email, address, place) order by place`,
      [subjects.map(({ email }) => email), subjects.map(({ address }) => address)],
    )
    return rows.map(({ isKnown }) => isKnown)
  }),
)

/** Whether a user with this e-mail has signed in from this address before. Concurrent calls are batched. */
export const isKnownPair = (db: Db, subject: SignInSubject): Promise<boolean> =>
  familiarityOf(db)(subject)

/** Removes the counts of a successful sign-in. */
export async function endSignIn(db: Db, { email, address }: SignInSubject): Promise<void> {
  await db.raw('select end_sign_in(?, ?)', [email, address])
}

/** Sets the password of the user of a session, and ends their other sessions. */
export async function changePassword(
  db: Db,
  { tokenHash }: { tokenHash: Buffer },
  passwordHash: string,
): Promise<void> {
  await db.raw('select change_password(?, ?)', [tokenHash, passwordHash])
}

/** A member, as other members of the account see them. */
export type AccountMember = {
  id: string
  email: string
  name: string
  role: Role
  /** The user is no operator and in no other account. Only then an owner may reset their password. */
  belongsOnlyHere: boolean
  createdAt: Date
}

/** The members of an account, the oldest membership first. */
export async function readMembers(db: Db, accountId: string): Promise<AccountMember[]> {
  const query = db('membership as m')
    .join('app_user as u', 'u.id', 'm.user_id')
    .where('m.account_id', accountId)
    .orderBy(['m.created_at', 'u.id'])
    .select('u.id', 'u.email', 'u.name', 'm.role', 'm.created_at as createdAt')
    .select({ belongsOnlyHere: db.raw('belongs_only_here(u.id)') })
  return selectScoped<AccountMember>(db, accountId, query)
}

type MemberId = { accountId: string; userId: string }

/**
 * Changes the role of a member from their next request on. The transaction is scoped to the account and acting member.
 *
 * @throws {ServiceError} NOT_FOUND for a non-member, INVALID_REQUEST for the last owner.
 */
export async function changeRole(trx: Db, member: MemberId, role: Role): Promise<void> {
  await keepingOwner(member, membershipOf(trx, member).update({ role }))
}

/** Ends a membership and its sessions. Throws as `changeRole`. */
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
