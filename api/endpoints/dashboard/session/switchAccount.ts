import { z } from 'zod'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { switchTo } from '../../../http/auth/signIn.js'
import { idInput } from '../../../schemas/dashboard.js'
import { anyMember } from '../memberSpecs.js'
import { sessionBody } from './sessionBody.js'

export const switchAccount = memberRoute(
  {
    ...{ ...anyMember, method: 'post', path: '/session/switch' },
    body: z.strictObject({ accountId: idInput }),
  },
  async (services, { body: { accountId }, ...exchange }) => {
    const member = await switchTo(services, exchange, accountId)
    return { status: 200, body: sessionBody(services, member) }
  },
)
