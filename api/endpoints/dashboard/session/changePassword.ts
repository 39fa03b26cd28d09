import { z } from 'zod'
import { changePassword as storePassword } from '../../../../db/accounts/users.js'
import { invalidRequest } from '../../../../domain/errors.js'
import { addressOf } from '../../../http/auth/browser.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { provePassword } from '../../../http/auth/signIn.js'
import { newPasswordInput, passwordInput } from '../../../schemas/dashboard.js'
import { anyMember } from '../memberSpecs.js'

export const changePassword = memberRoute(
  {
    ...anyMember,
    method: 'post',
    path: '/password',
    body: z.strictObject({ current: passwordInput, next: newPasswordInput }),
  },
  async (services, { caller, request, body: { current, next } }) => {
    const claim = { email: caller.email, address: addressOf(services, request) }
    const userId = await provePassword(services, claim, current)
    if (userId !== caller.userId) throw invalidRequest('current', 'current is not your password.')
    await storePassword(services.db, caller, await services.dashboard.passwords.hash(next))
    return { status: 200, body: {} }
  },
)
