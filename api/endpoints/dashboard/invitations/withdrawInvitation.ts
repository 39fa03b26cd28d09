import { endInvitation } from '../../../../db/accounts/invitations.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { emptyBody } from '../../../http/input.js'
import { byId, owners } from '../memberSpecs.js'

export const withdrawInvitation = memberRoute(
  { ...byId, method: 'post', path: '/members/invitations/:id/end', roles: owners, body: emptyBody },
  async ({ db }, { caller, response, params: { id } }) => {
    const { accountId } = caller
    await actAs(db, { caller, response }, (trx) => endInvitation(trx, accountId, id))
    return { status: 200, body: { ended: id } }
  },
)
