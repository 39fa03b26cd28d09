import type { Trends } from '../../api/types.js'
import { usdText } from '../../text/amount.js'
import { durationText } from '../../text/time.js'
import type { ChartData } from '../../ui/charts/chartData.js'

type Sums = Trends['current']

/** A key figure of the overview: its value in a time, its text, and how its change is judged. */
export type TrendFigure = {
  name: string
  hint: string
  valueOf: (sums: Sums) => number | null
  valueText: (value: number) => string
  form: ChartData['form']
  /** The highest value of the chart, where it is not that of the range. */
  high?: number
  change: 'relative' | 'points'
  /** Whether more is better. Absent: neither is. */
  better?: 'more' | 'less'
}

const LARGE_USD = 100_000

/** Dollars for a key figure: from a hundred thousand on with three digits, `$1.24M`. */
const shortUsd = (usd: number) =>
  usd < LARGE_USD
    ? usdText(usd)
    : `$${usd.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 })}`

/** In percent with one decimal, rounded down: it is 100 % only without failures. */
function rateOf({ completed, failed }: Sums): number | null {
  const ended = completed + failed
  return ended === 0 ? null : Math.floor((completed / ended) * 1_000) / 10
}

export const figures: TrendFigure[] = [
  {
    ...{ name: 'Volume', valueText: shortUsd, form: 'bars', change: 'relative' },
    hint: 'Completed intents in USD, one dollar per token.',
    valueOf: ({ volumeUsd }) => Number(volumeUsd),
  },
  {
    ...{ name: 'Success rate', form: 'lines', high: 100, change: 'points', better: 'more' },
    hint: 'Completed intents of those that completed or failed. Cancelled intents do not count.',
    valueOf: rateOf,
    valueText: (percent) => `${percent.toLocaleString()} %`,
  },
  {
    ...{ name: 'Time to complete, p50', form: 'lines', change: 'relative', better: 'less' },
    hint: 'Half of the completed intents took at most this long from their creation.',
    valueOf: ({ p50Ms }) => p50Ms,
    valueText: durationText,
  },
  {
    ...{ name: 'Gas cost', valueText: shortUsd, form: 'bars', change: 'relative' },
    hint: 'Gas in USD that this service paid for the steps that ended.',
    valueOf: ({ gasUsd }) => Number(gasUsd),
  },
]

type Change = { text: string; spoken: string; look: 'good' | 'bad' | 'neutral' }

/** The change of a figure against the range before. Undefined without a value before. */
export function changeOf(
  figure: TrendFigure,
  { current, previous }: Pick<Trends, 'current' | 'previous'>,
): Change | undefined {
  const now = figure.valueOf(current)
  const before = previous && figure.valueOf(previous)
  if (now === null || before === null) return undefined
  if (figure.change === 'points') return toChange(figure, now - before, 'pt')
  return before === 0 ? undefined : toChange(figure, ((now - before) / before) * 100, '%')
}

const spokenUnits = { pt: 'points', '%': 'percent' }

function toChange({ better }: TrendFigure, size: number, unit: 'pt' | '%'): Change {
  const isMore = size > 0
  const shown = sizeText(Math.abs(size))
  if (shown === '0') return { text: `± 0 ${unit}`, spoken: 'unchanged', look: 'neutral' }
  return {
    text: `${isMore ? '↑' : '↓'} ${shown} ${unit}`,
    spoken: `${isMore ? 'up' : 'down'} by ${shown} ${spokenUnits[unit]}`,
    look: !better ? 'neutral' : (better === 'more') === isMore ? 'good' : 'bad',
  }
}

/** A whole number from 10 on, else one decimal at most. Above 999: `>999`. */
function sizeText(size: number): string {
  if (size > 999) return '>999'
  return size >= 10 ? String(Math.round(size)) : String(Math.round(size * 10) / 10)
}
