import { removeMember as removeMembership } from '../../../../db/accounts/users.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { emptyBody } from '../../../http/input.js'
import { byId, owners } from '../memberSpecs.js'

export const removeMember = memberRoute(
  { ...byId, method: 'post', path: '/members/:id/remove', roles: owners, body: emptyBody },
  async ({ db }, { caller, response, params: { id } }) => {
    const member = { accountId: caller.accountId, userId: id }
    await actAs(db, { caller, response }, (trx) => removeMembership(trx, member))
    return { status: 200, body: { removed: id } }
  },
)
