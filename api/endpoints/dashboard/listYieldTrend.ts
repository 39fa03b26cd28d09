import { z } from 'zod'
import { readYieldPoints } from '../../../db/yields.js'
import { DAY_MS } from '../../../runtime/durations.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import { trendRangeInput, type YieldPointBody } from '../../schemas/activity.js'
import { anyMemberReads } from './memberSpecs.js'

const days = { '24h': 1, '7d': 7, '30d': 30 }

/** Averages for a chart. The single readings of a week are thousands of rows. */
export const listYieldTrend = memberRoute(
  {
    ...{ ...anyMemberReads, path: '/yields/trend' },
    query: z.strictObject({ range: trendRangeInput }),
  },
  async ({ db }, { query }) => {
    const points = await readYieldPoints(db, new Date(Date.now() - days[query.range] * DAY_MS))
    const data = points.map(({ at, apyPercent, ...market }): YieldPointBody => ({
      ...market,
      apy: Number(apyPercent),
      at: at.toISOString(),
    }))
    return { status: 200, body: { data } }
  },
)
