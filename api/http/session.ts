import { admitSession, tokenDigest, type Member } from '../../db/tenants/sessions.js'
import { ServiceError } from '../../domain/errors.js'
import { scopesOf } from '../../domain/roles.js'
import { sessionCookie } from './cookies.js'
import { setCredits } from './credits.js'
import { noteSender } from './requestLog.js'
import { rateLimited, setWindow } from './window.js'
import type { Search } from '../../db/tenants/metering.js'
import type { Door, Visit } from './door.js'

/**
 * The door of people: they are known by the cookie of their session, and may do what their role in its account
 * allows. What they read costs nothing.
 *
 * @param credits - What a write costs.
 */
export function session({ credits }: { credits: number }): Door<Member> {
  return {
    credits,
    admit: admitMember,
    refund: () => Promise.resolve(),
    settle({ response }, { balance }, charged) {
      setCredits(response, charged, balance - BigInt(charged))
    },
  }
}

/** What pages read, over and over, is not what somebody did: writes only are kept. */
function noteWriter({ request, response }: Visit, { accountId, userId }: Member): void {
  if (request.method !== 'GET') noteSender(response, { accountId, userId })
}

/** @throws {ServiceError} UNAUTHORIZED, RATE_LIMITED, FORBIDDEN. */
async function admitMember<Row>(visit: Visit, search?: Search<Row>) {
  const { services, request, response, requestId, scope } = visit
  const { db, shield, dashboard } = services
  const cookie = sessionCookie(dashboard.publicUrl)
  const address = request.socket.remoteAddress ?? ''
  const guarded = shield.peek(address)
  setWindow(response, guarded)
  const token = cookie.read(request)
  const digest = token && tokenDigest(token)?.toString('base64')
  if (guarded.used >= guarded.limit && !shield.trusts(digest)) throw rateLimited(guarded)
  const member = token && digest ? await admitSession(db, token, requestId) : undefined
  if (!digest || !member) {
    setWindow(response, shield.count(address))
    throw new ServiceError('UNAUTHORIZED', 'You are not signed in, or your session is over.')
  }
  shield.trust(digest)
  setWindow(response, member)
  noteWriter(visit, member)
  if (member.verdict === 'rateLimited') throw rateLimited(member)
  if (member.verdict === 'suspended') {
    const message = 'This account is suspended. Ask the operator of this service to resume it.'
    throw new ServiceError('FORBIDDEN', message)
  }
  if (!scopesOf[member.role].includes(scope)) {
    throw new ServiceError('FORBIDDEN', `A ${member.role} may not ${scope}. Ask an owner.`)
  }
  const found = search && (await search.lookup.find(db, member.accountId, search.key))
  return { ...member, found }
}
