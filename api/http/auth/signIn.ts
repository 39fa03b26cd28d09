import {
  admitSession,
  endSession,
  openSession,
  switchSession,
  type Member,
} from '../../../db/accounts/sessions.js'
import { beginSignIn, endSignIn, type SignInSubject } from '../../../db/accounts/users.js'
import { ServiceError } from '../../../domain/errors.js'
import { browserOf } from './browser.js'
import { sessionCookie } from './cookies.js'
import type { Visited } from './memberRoute.js'
import type { Services } from '../services.js'

/**
 * The id of the user with this e-mail and password, undefined when they do not match. An unknown e-mail takes the time
 * of one user and is counted as well.
 *
 * @throws {ServiceError} RATE_LIMITED after too many failed attempts.
 */
export async function provePassword(
  { db, dashboard }: Services,
  claim: SignInSubject,
  password: string,
): Promise<string | undefined> {
  const candidates = await beginSignIn(db, claim)
  if (candidates.length === 0) await dashboard.passwords.matches(password, null)
  for (const { userId, passwordHash } of candidates) {
    if (!(await dashboard.passwords.matches(password, passwordHash))) continue
    await endSignIn(db, claim)
    return userId
  }
  return undefined
}

type Exchange = Pick<Visited, 'request' | 'response' | 'requestId'>

/**
 * Opens a session, sets its cookie, and ends the previous session of the browser.
 *
 * @throws {ServiceError} FORBIDDEN when the user is not a member of the account, or of any.
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
    throw new ServiceError(
      'FORBIDDEN',
      'You are not a member of an account. Ask for an invitation.',
    )
  }
  const old = cookie.read(request)
  if (old !== undefined) await endSession(db, old)
  cookie.give(response, token)
  return member
}

/**
 * Switches to another account of the signed-in user: opens a new session and sets its cookie.
 *
 * @throws {ServiceError} FORBIDDEN when the user is not a member of the account.
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
    throw new ServiceError(
      'FORBIDDEN',
      'You are not a member of this account. Ask for an invitation.',
    )
  }
  cookie.give(response, token)
  return member
}
