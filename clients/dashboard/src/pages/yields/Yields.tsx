import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { yieldTrendQuery, yieldsQuery } from '../../api/queries.js'
import { percentText } from '../../text/amount.js'
import { marketText, namesIn } from '../../text/names.js'
import { Chart } from '../../ui/charts/Chart.js'
import type { ChartData } from '../../ui/charts/chartData.js'
import { colors } from '../../ui/charts/colors.js'
import { momentOf } from '../../ui/charts/scale.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { Ranges, spanText } from '../../ui/forms/Ranges.js'
import { useRange } from '../../ui/forms/useRange.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { RateTable } from './RateTable.js'
import { seriesOf, type Series } from './series.js'

const ranges = ['24h', '7d', '30d'] as const

/** Current and past rates of all markets. */
export function Yields() {
  const now = useQuery(yieldsQuery)
  const week = useSeries('7d')
  return (
    <>
      <PageHead title="Yields">{now.data?.best && namesIn(now.data.best.reasoning)}</PageHead>
      <Section title="Current rates">
        {now.data ? (
          <RateTable yields={now.data} series={week.series} />
        ) : now.error ? (
          <Failure error={now.error} retry={() => void now.refetch()} />
        ) : (
          <Skeleton lines={5} />
        )}
      </Section>
      <Past />
    </>
  )
}

function useSeries(range: string) {
  const { data, error, refetch } = useQuery(yieldTrendQuery(range))
  const series = useMemo(() => data && seriesOf(data.data), [data])
  return { series, error, refetch }
}

function Past() {
  const [range, setRange] = useRange(ranges, '7d')
  const { series, error, refetch } = useSeries(range)
  return (
    <Section
      title={`Last ${spanText(range)}`}
      action={<Ranges ranges={ranges} value={range} onChange={setRange} />}
    >
      {series && series.times.length > 1 ? (
        <Chart label="Rates" height={300} axes="full" {...chartOf(series)} />
      ) : series ? (
        <p className="border-y border-line py-4 text-sm text-ink-3">
          Rates are recorded every five minutes. The chart appears after the second record.
        </p>
      ) : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <Skeleton lines={1} className="h-80" />
      )}
    </Section>
  )
}

const chartOf = ({ times, values }: Series): ChartData => ({
  ...{ form: 'lines', zone: 'local', valueText: percentText },
  tickText: (percent) => `${percent.toLocaleString()} %`,
  times: times.map((seconds) => seconds * 1_000),
  timeText: (at) => momentOf(at, 'local'),
  series: byLastRate(values).map(([key, line], index) => ({
    name: nameOf(key),
    color: colors[index % colors.length] ?? 'accent',
    isDashed: index >= colors.length,
    values: line,
  })),
})

/** The markets in the order of the table, the best rate first. */
const byLastRate = (values: Series['values']) =>
  [...values].sort(([, a], [, b]) => (b.at(-1) ?? 0) - (a.at(-1) ?? 0))

function nameOf(key: string): string {
  const [chain = '', protocol = '', asset = ''] = key.split(' ')
  return `${marketText({ protocol, chain })}, ${asset}`
}
