import { z } from 'zod'
import { readUsageDays, type Days } from '../../../../db/usage/usage.js'
import { invalidRequest } from '../../../../domain/errors.js'
import { DAY_MS } from '../../../../runtime/durations.js'
import { memberRoute } from '../../../http/auth/memberRoute.js'
import { dayInput } from '../../../schemas/activity.js'
import { anyMemberReads } from '../memberSpecs.js'
import { DEFAULT_DAYS, MOST_DAYS, lastDays } from './usageDays.js'

export const listUsageDays = memberRoute(
  {
    ...anyMemberReads,
    path: '/usage/days',
    query: z.strictObject({ from: dayInput.optional(), to: dayInput.optional() }),
  },
  async ({ db }, { caller, query }) => {
    const last = lastDays(DEFAULT_DAYS)
    const days = { from: query.from ?? last.from, to: query.to ?? last.to }
    assertDays(days)
    return { status: 200, body: { data: await readUsageDays(db, caller.accountId, days) } }
  },
)

function assertDays({ from, to }: Days): void {
  const count = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (count < 1) throw invalidRequest('from', 'from must not be after to.')
  if (count > MOST_DAYS)
    throw invalidRequest('from', `The range has more than ${MOST_DAYS} days. Choose a shorter one.`)
}
