import { revokeApiKey } from '../../../../db/accounts/apiKeys.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { emptyBody } from '../../../http/input.js'
import { byId, keyMakers } from '../memberSpecs.js'

export const revokeKey = memberRoute(
  { ...byId, method: 'post', path: '/keys/:id/revoke', roles: keyMakers, body: emptyBody },
  async ({ db }, { caller, response, params: { id } }) => {
    await actAs(db, { caller, response }, (trx) => revokeApiKey(trx, id, caller.accountId))
    return { status: 200, body: { revoked: id } }
  },
)
