import { z } from 'zod'
import { readYieldPoints } from '../../../db/yields.js'
import { roles } from '../../../domain/roles.js'
import { DAY_MS } from '../../../runtime/durations.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { noParams, noQuery } from '../../http/input.js'
import type { YieldPointBody } from '../../schemas/activity.js'

/** Averages for the chart of a week. The single readings are thousands of rows. */
export const listYieldWeek = memberRoute(
  {
    ...{ method: 'get', path: '/yields/week', roles },
    ...{ params: noParams, query: noQuery, body: z.undefined() },
  },
  async ({ db }) => {
    const points = await readYieldPoints(db, new Date(Date.now() - 7 * DAY_MS))
    const data = points.map(({ at, apyPercent, ...market }): YieldPointBody => ({
      ...market,
      apy: Number(apyPercent),
      at: at.toISOString(),
    }))
    return { status: 200, body: { data } }
  },
)
