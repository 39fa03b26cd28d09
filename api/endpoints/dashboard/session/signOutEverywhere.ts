import { endSessions } from '../../../../db/accounts/sessions.js'
import { sessionCookie } from '../../../http/auth/cookies.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { emptyBody } from '../../../http/input.js'
import { anyMember } from '../memberSpecs.js'

export const signOutEverywhere = memberRoute(
  { ...anyMember, method: 'post', path: '/session/end-all', body: emptyBody },
  async ({ db, dashboard }, { caller, response }) => {
    const ended = await endSessions(db, caller)
    sessionCookie(dashboard).clear(response)
    return { status: 200, body: { ended } }
  },
)
