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

/**
 * The SVG path of a sparkline with the given width and height in units.
 *
 * @returns `M` and `L` commands. A gap starts a new `M`.
 */
export function sparkPath(line: readonly (number | null)[], width: number, height: number): string {
  const known = line.filter((value) => value !== null)
  const low = Math.min(...known)
  const span = Math.max(...known) - low
  const stepX = width / Math.max(line.length - 1, 1)
  let isPen = false
  return line
    .flatMap((value, index) => {
      if (value === null) {
        isPen = false
        return []
      }
      const command = isPen ? 'L' : 'M'
      isPen = true
      const y = span === 0 ? height / 2 : height - ((value - low) / span) * height
      return [`${command}${(index * stepX).toFixed(1)} ${y.toFixed(1)}`]
    })
    .join('')
}
