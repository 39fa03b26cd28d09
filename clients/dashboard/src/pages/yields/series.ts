import type { YieldPoint } from '../../api/types.js'

type MarketId = Pick<YieldPoint, 'chain' | 'protocol' | 'asset'>

export const marketKey = ({ chain, protocol, asset }: MarketId) => `${chain} ${protocol} ${asset}`

export type Series = {
  /** Unix seconds, oldest first. */
  times: number[]
  /** APY in percent by market. Null without a record: gaps stay visible. */
  values: Map<string, (number | null)[]>
}

/** Aligns the points of all markets on one time axis. */
export function seriesOf(points: readonly YieldPoint[]): Series {
  const seconds = points.map(({ at }) => Math.floor(Date.parse(at) / 1_000))
  const times = [...new Set(seconds)].sort((a, b) => a - b)
  const places = new Map(times.map((time, place) => [time, place]))
  const values = new Map<string, (number | null)[]>()
  points.forEach((point, index) => {
    const key = marketKey(point)
    const line = values.get(key) ?? times.map(() => null)
    line[places.get(seconds[index] ?? 0) ?? 0] = point.apy
    values.set(key, line)
  })
  return { times, values }
}
