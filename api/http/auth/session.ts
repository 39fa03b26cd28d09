import { admitSession, tokenDigest, type Member } from '../../../db/accounts/sessions.js'
import { areOpen } from '../../../db/accounts/sessionValidity.js'
import { ServiceError } from '../../../domain/errors.js'
import { sessionCookie } from './cookies.js'
import { countFailure, guardAddress } from './guardAddress.js'
import { setCredits } from '../credits.js'
import { noteSender } from '../requestLog.js'
import { accountSuspended, type AuthScheme, type RequestContext } from './authScheme.js'
import { rateLimited, setRateLimitHeaders } from '../rateLimit.js'
import type { Response } from 'express'
import type { Db } from '../../../db/client/connect.js'
import type { Scope } from '../../../db/accounts/accounts.js'
import type { Search } from '../../../db/usage/metering.js'

/**
 * The auth scheme of people: a session cookie. The role in the session's account decides what is allowed. Reads are
 * free.
 *
 * @param credits - Cost of a write.
 */
export function session({ credits }: { credits: number }): AuthScheme<Member> {
  return {
    credits,
    admit: admitMember,
    refund: () => Promise.resolve(),
    settle({ response }, { balance }, charged) {
      setCredits(response, charged, balance - BigInt(charged))
    },
    stillKnown: isSignedIn,
  }
}

const isSignedIn = (db: Db, members: Member[]) =>
  areOpen(
    db,
    members.map(({ sessionId }) => sessionId),
  )

/** Only writes are logged: pages repeat their reads. */
function noteWriter(response: Response, { accountId, userId }: Member): void {
  if (response.req.method !== 'GET') noteSender(response, { accountId, userId })
}

/** @throws {ServiceError} UNAUTHORIZED, RATE_LIMITED, FORBIDDEN. */
async function admitMember<Row>(context: RequestContext, search?: Search<Row>) {
  const member = await identify(context)
  setRateLimitHeaders(context.response, member)
  assertAdmitted(member, context.scope)
  const { db } = context.services
  const found = search && (await search.lookup.find(db, member.accountId, search.key))
  return { ...member, found }
}

async function identify(context: RequestContext): Promise<Member> {
  const { services, request, response, requestId } = context
  const token = sessionCookie(services.dashboard).read(request) ?? ''
  await guardAddress(context, tokenDigest(token))
  const member = await admitSession(services.db, token, requestId)
  if (!member) {
    countFailure(context)
    throw new ServiceError(
      'UNAUTHORIZED',
      'You are not signed in, or your session has expired. Sign in.',
    )
  }
  noteWriter(response, member)
  return member
}

function assertAdmitted(member: Member, scope: Scope): void {
  if (member.verdict === 'rateLimited') throw rateLimited(member)
  if (member.verdict === 'suspended') throw accountSuspended()
  if (!member.scopes.includes(scope)) {
    throw new ServiceError('FORBIDDEN', `A ${member.role} may not ${scope}. Ask an owner.`)
  }
}
