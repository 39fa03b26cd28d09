import { z } from 'zod'
import { readInvitations } from '../../../../db/accounts/invitations.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { noParams, noQuery } from '../../../http/input.js'
import { owners } from '../memberSpecs.js'
import type { InviteEntry } from '../../../schemas/dashboard.js'

export const listInvitations = memberRoute(
  {
    ...{ method: 'get', path: '/members/invitations', roles: owners },
    ...{ params: noParams, query: noQuery, body: z.undefined() },
  },
  async ({ db }, { caller }) => {
    const invitations = await readInvitations(db, caller.accountId)
    const data = invitations.map(({ id, email, role, createdAt, expiresAt }): InviteEntry => ({
      ...{ id, email, role },
      ...{ createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() },
    }))
    return { status: 200, body: { data, nextCursor: null } }
  },
)
