import { createPasswordReset } from '../../../../db/accounts/passwordResets.js'
import { invalidRequest } from '../../../../domain/errors.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { hostUrl } from '../../../http/auth/origin.js'
import { emptyBody } from '../../../http/input.js'
import { byId, owners } from '../memberSpecs.js'
import type { PasswordResetAnswer } from '../../../schemas/dashboard.js'

/** Returns a link that the owner passes on. The service sends no mail. */
export const resetMemberPassword = memberRoute(
  { ...byId, method: 'post', path: '/members/:id/password-reset', roles: owners, body: emptyBody },
  async ({ db, dashboard }, { caller, request, response, params: { id } }) => {
    if (id === caller.userId) {
      throw invalidRequest('id', 'This is your own password. Change it in the settings.')
    }
    const member = { accountId: caller.accountId, userId: id }
    const token = await actAs(db, { caller, response }, (trx) => createPasswordReset(trx, member))
    const body: PasswordResetAnswer = {
      url: `${hostUrl(dashboard, request)}/dashboard/password-resets/${token}`,
    }
    return { status: 201, body }
  },
)
