import { z } from 'zod'
import { getInvitation as getInvitationRow } from '../../../../db/accounts/invitations.js'
import { openRoute } from '../../../http/auth/memberRoute.js'
import { byToken } from '../memberSpecs.js'
import type { InvitationAnswer } from '../../../schemas/dashboard.js'

export const getInvitation = openRoute(
  { ...byToken, method: 'get', path: '/invitations/:token', body: z.undefined() },
  async ({ db }, { params }) => {
    const { accountName, role, email, expiresAt } = await getInvitationRow(db, params.token)
    const body: InvitationAnswer = {
      account: { name: accountName },
      ...{ role, email, expiresAt: expiresAt.toISOString() },
    }
    return { status: 200, body }
  },
)
