import { z } from 'zod'
import {
  INVITATION_HOURS,
  inviteMember as insertInvitation,
  readInvitations,
} from '../../../../db/accounts/invitations.js'
import { readMembers } from '../../../../db/accounts/users.js'
import { invalidRequest } from '../../../../domain/errors.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { hostUrl } from '../../../http/auth/origin.js'
import { noParams, noQuery } from '../../../http/input.js'
import { emailInput, roleInput, type InviteAnswer } from '../../../schemas/dashboard.js'
import { owners } from '../memberSpecs.js'

/** Members and open invitations together. Their lists have no pages. */
const MAX_MEMBERS = 100

/** Returns a link that the owner passes on. The service sends no mail. */
export const inviteMember = memberRoute(
  {
    ...{ method: 'post', path: '/members/invite', roles: owners },
    ...{ params: noParams, query: noQuery },
    body: z.strictObject({ email: emailInput, role: roleInput }),
  },
  async ({ db, dashboard }, { caller, response, request, body: { email, role } }) => {
    const { accountId, userId: invitedBy } = caller
    const members = await readMembers(db, accountId)
    if (members.some((member) => member.email === email)) {
      throw invalidRequest('email', 'This e-mail already belongs to a member. Change their role.')
    }
    const { id, token, expiresAt } = await actAs(db, { caller, response }, async (trx) => {
      const open = await readInvitations(trx, accountId)
      if (members.length + open.length >= MAX_MEMBERS) {
        throw invalidRequest(
          '',
          `An account has at most ${MAX_MEMBERS} members and invitations. Remove one first.`,
        )
      }
      const hours = INVITATION_HOURS
      return insertInvitation(trx, { accountId, email, role, invitedBy, hours })
    })
    const url = `${hostUrl(dashboard, request)}/dashboard/invitations/${token}`
    const body: InviteAnswer = { id, url, email, role, expiresAt: expiresAt.toISOString() }
    return { status: 201, body }
  },
)
