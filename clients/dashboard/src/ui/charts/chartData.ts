import type { ChartColor } from './colors.js'
import type { Zone } from './scale.js'

/** Null where a time has no value: a gap. */
export type ChartSeries = {
  name: string
  color: ChartColor
  isDashed?: boolean
  values: readonly (number | null)[]
}

export type ChartData = {
  form: 'bars' | 'lines'
  /** Unix ms, oldest first: the start of each bar, or the time of each point. */
  times: readonly number[]
  /** The length of time of a bar. */
  barMs?: number
  /** Bars are stacked, the first series at the bottom. */
  series: readonly ChartSeries[]
  /** The lowest and the highest value of the axis, where the values do not decide. Bars start at 0. */
  low?: number
  high?: number
  zone: Zone
  valueText: (value: number) => string
  /** The label of a value on the axis, where it is shorter. */
  tickText?: (value: number) => string
  timeText: (at: number) => string
}
