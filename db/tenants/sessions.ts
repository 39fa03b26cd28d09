import { hash, randomBytes } from 'node:crypto'
import { newId } from '../connection/ids.js'
import { scopeMember } from '../connection/scope.js'
import type { Db } from '../connection/connect.js'
import type { Role } from '../../domain/roles.js'
import type { Tier } from '../../domain/tiers.js'

/** A text that nobody guesses; stored is what `tokenDigest` makes of it. */
export const newToken = (): string => randomBytes(32).toString('base64url')

const tokenFormat = /^[\w-]{43}$/

/** SHA-256 of a token; undefined for what cannot be one. */
export const tokenDigest = (token: string): Buffer | undefined =>
  tokenFormat.test(token) ? hash('sha256', token, 'buffer') : undefined

/** Requests a user may send from the dashboard in a clock minute, whatever his accounts' own limits are. */
const REQUESTS_PER_MINUTE = 600

/** Somebody who is signed in, in one of his accounts, and the verdict on his request. */
export type Member = {
  sessionId: string
  userId: string
  email: string
  name: string
  isOperator: boolean
  accountId: string
  accountName: string
  plan: Tier
  role: Role
  /** Credits left. */
  balance: bigint
  limit: number
  used: number
  /** Unix time in seconds at which the window ends. */
  resetAt: number
  /** Seconds until then, by the database's clock. At least 1. */
  retryAfter: number
  verdict: 'admitted' | 'rateLimited' | 'suspended'
}

const verdicts = { 200: 'admitted', 423: 'suspended', 429: 'rateLimited' } as const

type MemberRow = Omit<Member, 'limit' | 'verdict' | 'resetAt'> & {
  resetAt: bigint
  code: keyof typeof verdicts
}

/**
 * Finds whose session it is and counts the request.
 *
 * @returns undefined when the session is unknown or over, or its user is no longer a member of its account.
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
    limit: REQUESTS_PER_MINUTE,
    resetAt: Number(resetAt),
    verdict: verdicts[code],
  }
}

/** The browser that a session was opened by. */
export type Browser = { agent: string; address: string }

/** Of a user agent's text, what tells one browser from another. */
const AGENT_LENGTH = 200

/**
 * Opens a session in an account, or in the one that the user was in last.
 *
 * @returns Its token, which is not stored; undefined when the user is no member of such an account.
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

/** An account as one of its members sees it among his others. */
export type OwnAccount = { id: string; name: string; role: Role }

/** The accounts that a user is a member of, by name. */
export async function readOwnAccounts(db: Db, userId: string): Promise<OwnAccount[]> {
  const { rows } = await db.raw<{ rows: OwnAccount[] }>(
    'select account_id as id, account_name as name, role from list_memberships(?)',
    [userId],
  )
  return rows
}

/**
 * Opens a session in another account of the same user, in place of the one that it ends. It lasts no longer.
 *
 * @returns Its token; undefined when the session is over, or its user is no member there.
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

export type Session = Browser & { id: string; createdAt: Date; lastSeenAt: Date; expiresAt: Date }

/** As many as are told at once. Older ones are still ended by `endSessions`. */
const TOLD_SESSIONS = 100

/** The open sessions of a user, the newest first. */
export async function readSessions(db: Db, userId: string): Promise<Session[]> {
  return db.transaction(async (trx) => {
    await scopeMember(trx, userId)
    return openSessions(trx, userId)
      .orderBy('id', 'desc')
      .limit(TOLD_SESSIONS)
      .select<Session[]>(
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
 * Ends sessions of a user: this one, or all.
 *
 * @returns How many were open.
 */
export async function endSessions(db: Db, userId: string, id?: string): Promise<number> {
  return db.transaction(async (trx) => {
    await scopeMember(trx, userId)
    const which = id === undefined ? {} : { id }
    const ended_at = trx.raw('clock_timestamp()')
    const ended: number = await openSessions(trx, userId).where(which).update({ ended_at })
    return ended
  })
}

/** Ends the session of a token, whoever's it is; nothing when it is over already. */
export async function endSession(db: Db, token: string): Promise<void> {
  const digest = tokenDigest(token)
  if (digest) await db.raw('select end_session(?)', [digest])
}
