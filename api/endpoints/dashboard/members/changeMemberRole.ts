import { z } from 'zod'
import { changeRole } from '../../../../db/accounts/users.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { roleInput } from '../../../schemas/dashboard.js'
import { byId, owners } from '../memberSpecs.js'

export const changeMemberRole = memberRoute(
  {
    ...{ ...byId, method: 'post', path: '/members/:id/role', roles: owners },
    body: z.strictObject({ role: roleInput }),
  },
  async ({ db }, { caller, response, params: { id }, body: { role } }) => {
    const member = { accountId: caller.accountId, userId: id }
    await actAs(db, { caller, response }, (trx) => changeRole(trx, member, role))
    return { status: 200, body: { id, role } }
  },
)
