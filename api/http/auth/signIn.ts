import {
  admitSession,
  endSession,
  openSession,
  switchSession,
  type Member,
} from '../../../db/tenants/sessions.js'
import { beginSignIn, endSignIn, type Claim } from '../../../db/tenants/users.js'
import { ServiceError } from '../../../domain/errors.js'
import { browserOf } from './browser.js'
import { sessionCookie } from './cookies.js'
import type { Visited } from './memberRoute.js'
import type { Services } from '../services.js'

/**
 * Whose e-mail it is, if the password is his. An unknown e-mail takes as long, and is counted alike.
 *
 * @throws {ServiceError} RATE_LIMITED after too many attempts that failed.
 */
export async function provePassword(
  { db, dashboard }: Services,
  claim: Claim,
  password: string,
): Promise<string | undefined> {
  const { userId, passwordHash } = await beginSignIn(db, claim)
  const isRight = await dashboard.passwords.matches(password, passwordHash)
  if (!isRight || userId === null) return undefined
  await endSignIn(db, claim)
  return userId
}

type Exchange = Pick<Visited, 'request' | 'response' | 'requestId'>

/**
 * Opens a session, gives its cookie, and ends the one that the request came with.
 *
 * @throws {ServiceError} FORBIDDEN for a user who is a member of no such account.
 */
export async function signInAs(
  services: Services,
  { request, response, requestId }: Exchange,
  who: { userId: string; accountId?: string },
): Promise<Member> {
  const { db, dashboard } = services
  const cookie = sessionCookie(dashboard)
  const token = await openSession(db, who, browserOf(services, request))
  const member = token && (await admitSession(db, token, requestId))
  if (!token || !member) {
    throw new ServiceError('FORBIDDEN', 'You are a member of no account. Ask for an invitation.')
  }
  const old = cookie.read(request)
  if (old !== undefined) await endSession(db, old)
  cookie.give(response, token)
  return member
}

/**
 * Goes on in another account of whoever is signed in: by a new session, whose cookie it gives.
 *
 * @throws {ServiceError} FORBIDDEN for a user who is a member of no such account.
 */
export async function switchTo(
  { db, dashboard }: Services,
  { request, response, requestId }: Exchange,
  accountId: string,
): Promise<Member> {
  const cookie = sessionCookie(dashboard)
  const token = await switchSession(db, cookie.read(request) ?? '', accountId)
  const member = token && (await admitSession(db, token, requestId))
  if (!token || !member) {
    throw new ServiceError('FORBIDDEN', 'You are no member of this account. Ask for an invitation.')
  }
  cookie.give(response, token)
  return member
}
