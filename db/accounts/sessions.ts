import { hash, randomBytes } from 'node:crypto'
import { newId } from '../client/ids.js'
import { scopesOf, type Role } from '../../domain/roles.js'
import { scopeSession } from '../client/scope.js'
import type { Db } from '../client/connect.js'
import type { Scope } from './accounts.js'
import type { Tier } from '../../domain/tiers.js'

/** A random token. Only its `tokenDigest` is stored. */
export const newToken = (): string => randomBytes(32).toString('base64url')

const tokenFormat = /^[\w-]{43}$/

/** SHA-256 of a token. Undefined for a malformed one. */
export const tokenDigest = (token: string): Buffer | undefined =>
  tokenFormat.test(token) ? hash('sha256', token, 'buffer') : undefined

/** Requests of a user from the dashboard per clock minute, independent of the limits of their accounts. */
const REQUESTS_PER_MINUTE = 600

/** A signed-in user in one of their accounts, and the decision on their request. */
export type Member = {
  sessionId: string
  /** SHA-256 of the session's token. */
  tokenHash: Buffer
  userId: string
  email: string
  name: string
  isOperator: boolean
  accountId: string
  accountName: string
  plan: Tier
  role: Role
  /** Scopes of the role. */
  scopes: readonly Scope[]
  /** Remaining credits. */
  balance: bigint
  limit: number
  used: number
  /** Unix time in seconds at which the minute ends. */
  resetAt: number
  /** Seconds until then, by the database's clock. At least 1. */
  retryAfter: number
  verdict: 'admitted' | 'rateLimited' | 'suspended'
}

const verdicts = { 200: 'admitted', 423: 'suspended', 429: 'rateLimited' } as const

type MemberRow = Omit<Member, 'limit' | 'verdict' | 'resetAt' | 'tokenHash' | 'scopes'> & {
  resetAt: bigint
  code: keyof typeof verdicts
}

/**
 * Authenticates a session and counts the request.
 *
 * @returns Undefined when the session is unknown or has ended, or its user is no longer a member of its account.
 */
export async function admitSession(
  db: Db,
  token: string,
  requestId: string,
): Promise<Member | undefined> {
  const digest = tokenDigest(token)
  if (!digest) return undefined
  const { rows } = await db.raw<{ rows: MemberRow[] }>(
    `select session_id as "sessionId", user_id as "userId", email, name, is_operator as "isOperator",
       account_id as "accountId", account_name as "accountName", plan, role, balance, win_used as used,
       reset_at as "resetAt", retry_after as "retryAfter", code
     from admit_session(?, ?, ?)`,
    [digest, requestId, REQUESTS_PER_MINUTE],
  )
  const [row] = rows
  if (!row) return undefined
  const { code, resetAt, ...member } = row
  return {
    ...member,
    tokenHash: digest,
    scopes: scopesOf[member.role],
    limit: REQUESTS_PER_MINUTE,
    resetAt: Number(resetAt),
    verdict: verdicts[code],
  }
}

/** The browser that opened a session. */
export type Browser = { agent: string; address: string }

/** Kept characters of a user agent, enough to recognize the browser. */
const AGENT_LENGTH = 200

/**
 * Opens a session in an account, or in the user's most recent one.
 *
 * @returns Its token, which is not stored. Undefined when the user is not a member of such an account.
 */
export async function openSession(
  db: Db,
  { userId, accountId }: { userId: string; accountId?: string | undefined },
  { agent, address }: Browser,
): Promise<string | undefined> {
  const token = newToken()
  const { rows } = await db.raw<{ rows: [{ opened: boolean }] }>(
    'select open_session(?, ?, ?, ?, ?, ?) as opened',
    [
      ...[newId('session_'), userId, accountId ?? null, tokenDigest(token) ?? null],
      ...[agent.slice(0, AGENT_LENGTH), address],
    ],
  )
  return rows[0].opened ? token : undefined
}

/** An account and the role of one of its members. */
export type OwnAccount = { id: string; name: string; role: Role }

/** The accounts of a user, by name. */
export async function readOwnAccounts(db: Db, userId: string): Promise<OwnAccount[]> {
  const { rows } = await db.raw<{ rows: OwnAccount[] }>(
    'select account_id as id, account_name as name, role from list_memberships(?)',
    [userId],
  )
  return rows
}

/**
 * Replaces a session by one in another account of the user, with the same expiry.
 *
 * @returns Its token. Undefined when the session has ended, or the user is not a member of the account.
 */
export async function switchSession(
  db: Db,
  token: string,
  accountId: string,
): Promise<string | undefined> {
  const next = newToken()
  const { rows } = await db.raw<{ rows: [{ switched: boolean }] }>(
    'select switch_session(?, ?, ?, ?) as switched',
    [tokenDigest(token) ?? null, accountId, newId('session_'), tokenDigest(next) ?? null],
  )
  return rows[0].switched ? next : undefined
}

export type UserSession = Browser & {
  id: string
  createdAt: Date
  lastSeenAt: Date
  expiresAt: Date
}

/** The most sessions in a list. `endSessions` also ends older ones. */
const LISTED_SESSIONS = 100

type SessionOwner = Pick<Member, 'userId' | 'tokenHash'>

/** The open sessions of a user, the newest first. */
export async function readSessions(
  db: Db,
  { userId, tokenHash }: SessionOwner,
): Promise<UserSession[]> {
  return db.transaction(async (trx) => {
    await scopeSession(trx, tokenHash)
    return openSessions(trx, userId)
      .orderBy('id', 'desc')
      .limit(LISTED_SESSIONS)
      .select<UserSession[]>(
        ...['id', 'address', 'user_agent as agent', 'created_at as createdAt'],
        ...['last_seen_at as lastSeenAt', 'expires_at as expiresAt'],
      )
  })
}

const openSessions = (trx: Db, userId: string) =>
  trx('user_session')
    .where({ user_id: userId })
    .whereNull('ended_at')
    .whereRaw(
      `expires_at > clock_timestamp() and last_seen_at > clock_timestamp() - interval '7 days'`,
    )

/**
 * Ends a session of a user, or all of them.
 *
 * @returns How many were open.
 */
export async function endSessions(
  db: Db,
  { userId, tokenHash }: SessionOwner,
  id?: string,
): Promise<number> {
  return db.transaction(async (trx) => {
    await scopeSession(trx, tokenHash)
    const which = id === undefined ? {} : { id }
    const ended_at = trx.raw('clock_timestamp()')
    const ended: number = await openSessions(trx, userId).where(which).update({ ended_at })
    return ended
  })
}

/** Ends the session of a token. No-op when it has ended. */
export async function endSession(db: Db, token: string): Promise<void> {
  const digest = tokenDigest(token)
  if (digest) await db.raw('select end_session(?)', [digest])
}
