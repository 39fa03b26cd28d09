import { useQuery } from '@tanstack/react-query'
import { trendsQuery } from '../../api/queries.js'
import type { Trends as TrendsState } from '../../api/types.js'
import { exactText } from '../../text/time.js'
import { Chart } from '../../ui/charts/Chart.js'
import { dateOf, timeOf } from '../../ui/charts/scale.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Ranges, spanText, type RangeName } from '../../ui/forms/Ranges.js'
import { useRange } from '../../ui/forms/useRange.js'
import { Section } from '../../ui/PageHead.js'
import type { ChartData } from '../../ui/charts/chartData.js'
import { changeOf, figures, type TrendFigure } from './figures.js'

const ranges = ['24h', '7d', '30d'] as const

/** The key figures of a range, each with its change and a chart. */
export function Trends() {
  const [range, setRange] = useRange(ranges, '7d')
  const { data, error, refetch } = useQuery(trendsQuery(range))
  return (
    <Section
      title={`Last ${spanText(range)}`}
      action={<Ranges ranges={ranges} value={range} onChange={setRange} />}
    >
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <dl className="grid grid-cols-2 border-b border-line lg:grid-cols-4">
          {figures.map((figure) => (
            <Tile key={figure.name} {...{ figure, trends: data, range }} />
          ))}
        </dl>
      )}
      {data && data.since !== data.from && (
        <p className="mt-2 text-xs text-ink-3">
          Only the newest intents are summed, since {exactText(new Date(data.since))}.
        </p>
      )}
    </Section>
  )
}

const CHART_HEIGHT = 64

const looks = { good: 'text-done', bad: 'text-failed', neutral: 'text-ink-2' }

type TileProps = { figure: TrendFigure; trends: TrendsState | undefined; range: RangeName }

/** A loading tile keeps its space. */
function Tile({ figure, trends, range }: TileProps) {
  const { name, hint, valueOf, valueText } = figure
  const value = trends && valueOf(trends.current)
  const change = trends && changeOf(figure, trends)
  return (
    <div className="min-w-0 border-t border-line py-4 max-lg:odd:pr-4 max-lg:even:border-l max-lg:even:pl-4 lg:not-first:border-l lg:not-first:pl-5 lg:not-last:pr-5">
      <dt className="truncate text-xs text-ink-3" title={hint}>
        {name}
      </dt>
      <dd>
        <p className="flex h-9 items-baseline gap-x-2 overflow-hidden whitespace-nowrap max-sm:h-13 max-sm:flex-col">
          <span className="text-2xl max-sm:text-xl">
            {value === null ? '–' : value !== undefined && valueText(value)}
          </span>
          {change && (
            <span
              title={`Against the ${spanText(range)} before`}
              className={`text-xs font-medium ${looks[change.look]}`}
            >
              <span aria-hidden>{change.text}</span>
              <span className="sr-only">
                {change.spoken} against the {spanText(range)} before
              </span>
            </span>
          )}
        </p>
        <div className="mt-2 h-22">
          {trends && (
            <Chart label={name} height={CHART_HEIGHT} axes="ends" {...chartOf(figure, trends)} />
          )}
        </div>
      </dd>
    </div>
  )
}

const HOUR_MS = 3_600_000
const barsMs = { hour: HOUR_MS, day: 24 * HOUR_MS }

/** Hours are local, days are in UTC. A time that is not summed is a gap. */
function chartOf({ form, high, ...figure }: TrendFigure, trends: TrendsState): ChartData {
  const { points, unit, since } = trends
  const times = points.map(({ at }) => Date.parse(at))
  const zone = unit === 'day' ? 'UTC' : 'local'
  const isSummed = (at: number) => at + barsMs[unit] > Date.parse(since)
  const values = points.map((point, index) =>
    isSummed(times[index] ?? 0) ? figure.valueOf(point) : null,
  )
  return {
    ...{ form, times, zone, valueText: figure.valueText, low: 0, ...(high && { high }) },
    ...(form === 'bars' && { barMs: barsMs[unit] }),
    timeText: (at) => (unit === 'day' ? dateOf(at, zone) : timeOf(at, zone)),
    series: [{ name: '', color: 'accent', values }],
  }
}
