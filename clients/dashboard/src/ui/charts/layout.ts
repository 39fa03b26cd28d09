import { timeTicks, valueTicks, type TimeTick } from './scale.js'
import type { ChartData } from './chartData.js'

/** The places of a chart's values in pixels, and its ticks. */
export type Layout = {
  left: number
  right: number
  top: number
  bottom: number
  values: number[]
  times: TimeTick[]
  /** The centre of the point with an index. */
  xOf: (index: number) => number
  xAt: (at: number) => number
  yOf: (value: number) => number
  /** Width of a bar, without its gap. */
  barWidth: number
}

type Size = { width: number; height: number; axes: 'full' | 'ends' }

/** Pixels of a character of a label, of a time label with its gap, and between two lines of the grid. */
const CHARACTER = 6.7
const TIME_LABEL = 68
const GRID = 44
const TIME_LINE = 22
const MOST_BAR = 44

export function layoutOf(data: ChartData, { width, height, axes }: Size): Layout {
  if (axes === 'full') return fullLayout(data, width, height)
  const place = { left: 0, right: width, top: 3, bottom: height - 1 }
  return { ...place, ...scalesOf(data, place, boundsOf(data)), values: [], times: [] }
}

function fullLayout(data: ChartData, width: number, height: number): Layout {
  const { times, zone, tickText = data.valueText } = data
  const [top, bottom] = [8, height - TIME_LINE]
  const [low, high] = boundsOf(data)
  const values = valueTicks(low, high, Math.max(1, Math.floor((bottom - top) / GRID)))
  const longest = Math.max(...values.map((value) => tickText(value).length))
  const place = { top, bottom, left: Math.ceil(longest * CHARACTER) + 12, right: width - 8 }
  const range = [times[0] ?? 0, times.at(-1) ?? 0] as const
  const most = Math.floor((place.right - place.left) / TIME_LABEL)
  const bounds = [values[0] ?? low, values.at(-1) ?? high] as const
  return {
    ...{ ...place, ...scalesOf(data, place, bounds), values },
    times: timeTicks(range, most, zone),
  }
}

type Place = Pick<Layout, 'left' | 'right' | 'top' | 'bottom'>

function scalesOf(
  { times, barMs = 0 }: ChartData,
  { left, right, top, bottom }: Place,
  [low, high]: readonly [number, number],
): Pick<Layout, 'xOf' | 'xAt' | 'yOf' | 'barWidth'> {
  const from = times[0] ?? 0
  const span = (times.at(-1) ?? 0) + barMs - from
  const xAt = (at: number) =>
    span === 0 ? (left + right) / 2 : left + ((at + barMs / 2 - from) / span) * (right - left)
  const barSpace = ((right - left) / (span || 1)) * barMs
  return {
    xAt,
    xOf: (index) => xAt(times[index] ?? from),
    yOf: (value) => bottom - ((value - low) / (high - low || 1)) * (bottom - top),
    barWidth: Math.min(MOST_BAR, Math.max(1, barSpace - Math.max(1, barSpace * 0.25))),
  }
}

/** The lowest and the highest value of a chart. */
function boundsOf({ form, times, series, low, high }: ChartData): [number, number] {
  const known =
    form === 'bars'
      ? times.map((_, index) => stackOf(series, index))
      : series.flatMap(({ values }) => values.filter((value) => value !== null))
  const lowest = low ?? (form === 'bars' || known.length === 0 ? 0 : Math.min(...known))
  const highest = high ?? Math.max(lowest, ...known)
  return highest > lowest ? [lowest, highest] : [Math.min(lowest, 0), highest || 1]
}

/** The height of the bars of a time up to a series, in values. */
export const stackOf = (
  series: ChartData['series'],
  index: number,
  count = series.length,
): number => series.slice(0, count).reduce((sum, { values }) => sum + (values[index] ?? 0), 0)

/** The index of the point that is nearest to a place in pixels. */
export function nearest({ times }: ChartData, { xOf }: Layout, x: number): number {
  const distances = times.map((_, index) => Math.abs(xOf(index) - x))
  return distances.indexOf(Math.min(...distances))
}

/** The SVG path of a line. A gap starts a new part, and a single point is a dot. */
export function linePath(
  values: readonly (number | null)[],
  { xOf, yOf }: Pick<Layout, 'xOf' | 'yOf'>,
): string {
  return values
    .map((value, index) => {
      if (value === null) return ''
      const place = `${xOf(index).toFixed(1)} ${yOf(value).toFixed(1)}`
      const isStart = values[index - 1] === null || index === 0
      return isStart ? `M${place}h0` : `L${place}`
    })
    .join('')
}
