import { endSessions } from '../../../../db/accounts/sessions.js'
import { sessionCookie } from '../../../http/auth/cookies.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { emptyBody } from '../../../http/input.js'
import { anyMember } from '../memberSpecs.js'

export const signOut = memberRoute(
  { ...anyMember, method: 'post', path: '/session/end', body: emptyBody },
  async ({ db, dashboard }, { caller, response }) => {
    const ended = await endSessions(db, caller, caller.sessionId)
    sessionCookie(dashboard).clear(response)
    return { status: 200, body: { ended } }
  },
)
