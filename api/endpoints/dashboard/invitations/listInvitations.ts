import { z } from 'zod'
import { readInvitations, type OpenInvitation } from '../../../../db/accounts/invitations.js'
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
    return { status: 200, body: { data: invitations.map(inviteBody), nextCursor: null } }
  },
)

const inviteBody = ({ invitedBy, inviterEmail, ...invitation }: OpenInvitation): InviteEntry => ({
  ...{ id: invitation.id, email: invitation.email, role: invitation.role },
  by: invitedBy === null ? null : { id: invitedBy, email: inviterEmail },
  createdAt: invitation.createdAt.toISOString(),
  expiresAt: invitation.expiresAt.toISOString(),
})
