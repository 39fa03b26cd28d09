import { z } from 'zod'
import { usePasswordReset } from '../../../../db/accounts/passwordResets.js'
import { beginCommit } from '../../../http/deadline.js'
import { openRoute } from '../../../http/auth/memberRoute.js'
import { newPasswordInput } from '../../../schemas/dashboard.js'
import { byToken } from '../memberSpecs.js'

/** Sets the password of a link. The user signs in with it. */
export const choosePassword = openRoute(
  {
    ...{ ...byToken, method: 'post', path: '/password-resets/:token' },
    body: z.strictObject({ password: newPasswordInput }),
  },
  async ({ db, dashboard }, { params: { token }, body: { password }, response }) => {
    const passwordHash = await dashboard.passwords.hash(password)
    beginCommit(response)
    await usePasswordReset(db, token, passwordHash)
    return { status: 200, body: {} }
  },
)
