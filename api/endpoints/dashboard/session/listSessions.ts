import { z } from 'zod'
import { readSessions } from '../../../../db/accounts/sessions.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { anyMember } from '../memberSpecs.js'
import type { SessionEntry } from '../../../schemas/dashboard.js'

export const listSessions = memberRoute(
  { ...anyMember, method: 'get', path: '/sessions', body: z.undefined() },
  async ({ db }, { caller }) => {
    const sessions = await readSessions(db, caller)
    const data = sessions.map((session): SessionEntry => ({
      id: session.id,
      isCurrent: session.id === caller.sessionId,
      agent: session.agent,
      address: session.address,
      createdAt: session.createdAt.toISOString(),
      lastSeenAt: session.lastSeenAt.toISOString(),
      expiresAt: session.expiresAt.toISOString(),
    }))
    return { status: 200, body: { data, nextCursor: null } }
  },
)
