import { z } from 'zod'
import { endSessions } from '../../../../db/accounts/sessions.js'
import { ServiceError } from '../../../../domain/errors.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { emptyBody } from '../../../http/input.js'
import { idInput } from '../../../schemas/dashboard.js'
import { anyMember } from '../memberSpecs.js'

export const endSession = memberRoute(
  {
    ...anyMember,
    method: 'post',
    path: '/sessions/:id/end',
    params: z.object({ id: idInput }),
    body: emptyBody,
  },
  async ({ db }, { caller, params }) => {
    const ended = await endSessions(db, caller, params.id)
    if (ended === 0) throw new ServiceError('NOT_FOUND', `You have no open session ${params.id}.`)
    return { status: 200, body: { ended } }
  },
)
