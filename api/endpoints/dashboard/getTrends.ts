import { z } from 'zod'
import { readTrends, type TrendRange, type TrendSums } from '../../../db/usage/trends.js'
import { assetText } from '../../../domain/money.js'
import { DAY_MS, HOUR_MS } from '../../../runtime/durations.js'
import { memberRoute } from '../../http/auth/memberRoute.js'
import {
  trendRangeInput,
  trendRanges,
  type TrendRangeName,
  type TrendsAnswer,
} from '../../schemas/activity.js'
import { anyMemberReads } from './memberSpecs.js'

export const getTrends = memberRoute(
  {
    ...{ ...anyMemberReads, path: '/trends' },
    query: z.strictObject({ range: trendRangeInput }),
  },
  async ({ db }, { caller: { accountId }, query }) => {
    const range = rangeUntil(new Date(), query.range)
    const { current, previous, points, since } = await readTrends(db, accountId, range)
    const known = new Map(points.map((point) => [+point.at, point]))
    const body: TrendsAnswer = {
      from: range.from.toISOString(),
      to: range.to.toISOString(),
      since: since.toISOString(),
      unit: trendRanges[query.range].unit,
      current: sumsBody(current),
      previous: previous && sumsBody(previous),
      points: unitsOf(range).map((at) => ({
        at: new Date(at).toISOString(),
        ...sumsBody(known.get(at)),
      })),
    }
    return { status: 200, body }
  },
)

/** Summing two ranges of this size takes about half a second. */
const SUMMED = 50_000

const unitsMs = { hour: HOUR_MS, day: DAY_MS }

/** The last units up to a time, including the one that runs. */
function rangeUntil(to: Date, name: TrendRangeName): TrendRange {
  const { unit, units } = trendRanges[name]
  const unitMs = unitsMs[unit]
  const current = Math.floor(+to / unitMs) * unitMs
  return { from: new Date(current - (units - 1) * unitMs), to, unitMs, units, most: SUMMED }
}

/** The starts of the units of a range. */
const unitsOf = ({ from, unitMs, units }: TrendRange) =>
  Array.from({ length: units }, (_, index) => +from + index * unitMs)

const none: TrendSums = { units: '0', completed: 0, failed: 0, p50Ms: null, gasUsd: '0' }

const sumsBody = ({ units, completed, failed, p50Ms, gasUsd }: TrendSums = none) => ({
  ...{ volumeUsd: assetText(BigInt(units)), completed, failed, p50Ms, gasUsd },
})
