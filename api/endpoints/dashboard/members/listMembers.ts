import { z } from 'zod'
import { readMembers, type AccountMember } from '../../../../db/accounts/users.js'
import { roles } from '../../../../domain/roles.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { noParams, noQuery } from '../../../http/input.js'
import type { Member } from '../../../../db/accounts/sessions.js'
import type { MemberEntry } from '../../../schemas/dashboard.js'

export const listMembers = memberRoute(
  {
    ...{ method: 'get', path: '/members', roles },
    ...{ params: noParams, query: noQuery, body: z.undefined() },
  },
  async ({ db }, { caller }) => {
    const members = await readMembers(db, caller.accountId)
    return {
      status: 200,
      body: { data: members.map((member) => memberBody(member, caller)), nextCursor: null },
    }
  },
)

const memberBody = (
  { id, email, name, role, belongsOnlyHere, createdAt }: AccountMember,
  caller: Member,
): MemberEntry => ({
  ...{ id, email, name, role },
  mayResetPassword: caller.role === 'owner' && id !== caller.userId && belongsOnlyHere,
  createdAt: createdAt.toISOString(),
})
