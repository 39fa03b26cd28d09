import { z } from 'zod'
import { hasKey, readKeyUse } from '../../../../db/usage/usage.js'
import { ServiceError } from '../../../../domain/errors.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { idInput } from '../../../schemas/dashboard.js'
import { anyMemberReads } from '../memberSpecs.js'
import { DEFAULT_DAYS, MOST_DAYS, lastDays } from '../usage/usageDays.js'

export const getKeyUse = memberRoute(
  {
    ...anyMemberReads,
    path: '/keys/:id/use',
    params: z.object({ id: idInput }),
    query: z.strictObject({
      days: z
        .string()
        .regex(/^\d{1,3}$/, 'must be a whole number of days')
        .transform(Number)
        .refine((days) => days >= 1 && days <= MOST_DAYS, `must be from 1 to ${MOST_DAYS}`)
        .default(DEFAULT_DAYS),
    }),
  },
  async ({ db }, { caller: { accountId }, params: { id }, query: { days } }) => {
    if (!(await hasKey(db, accountId, id))) {
      throw new ServiceError('NOT_FOUND', 'There is no key with this id.')
    }
    const data = await readKeyUse(db, accountId, { keyId: id, ...lastDays(days) })
    return { status: 200, body: { data } }
  },
)
