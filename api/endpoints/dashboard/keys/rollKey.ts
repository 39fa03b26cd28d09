import { z } from 'zod'
import { rollApiKey } from '../../../../db/accounts/apiKeys.js'
import { actAs, memberRoute } from '../../../http/auth/memberRoute.js'
import { byId, keyMakers } from '../memberSpecs.js'
import { keyBody } from './keyBody.js'
import type { NewKeyAnswer } from '../../../schemas/dashboard.js'

/** A year. */
const MAX_GRACE_HOURS = 8_760

export const rollKey = memberRoute(
  {
    ...{ ...byId, method: 'post', path: '/keys/:id/roll', roles: keyMakers },
    body: z.strictObject({ graceHours: z.int().min(0).max(MAX_GRACE_HOURS) }),
  },
  async ({ db }, { caller, response, params: { id }, body: { graceHours } }) => {
    const { accountId } = caller
    const { key, stored, oldEndsAt } = await actAs(db, { caller, response }, (trx) =>
      rollApiKey(trx, id, { graceHours, accountId }),
    )
    const body: NewKeyAnswer = { key, ...keyBody(stored), oldEndsAt: oldEndsAt.toISOString() }
    return { status: 201, body }
  },
)
