import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo } from 'react'
import { yieldWeekQuery, yieldsQuery } from '../../api/queries.js'
import { marketText, namesIn } from '../../text/names.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { RateTable } from './RateTable.js'
import { seriesOf } from './series.js'

const Chart = lazy(() =>
  import('../../ui/charts/Chart.js').then(({ Chart: it }) => ({ default: it })),
)

/** Current and past rates of all markets. */
export function Yields() {
  const now = useQuery(yieldsQuery)
  const history = useQuery(yieldWeekQuery)
  const series = useMemo(() => history.data && seriesOf(history.data.data), [history.data])
  return (
    <>
      <PageHead title="Yields">{now.data?.best && namesIn(now.data.best.reasoning)}</PageHead>
      <Section title="Current rates">
        {now.data ? (
          <RateTable yields={now.data} series={series} />
        ) : now.error ? (
          <Failure error={now.error} retry={() => void now.refetch()} />
        ) : (
          <Skeleton lines={5} />
        )}
      </Section>
      <Section title="Last 7 days">
        {history.error && !series ? (
          <Failure error={history.error} retry={() => void history.refetch()} />
        ) : series && series.times.length > 1 ? (
          <Suspense fallback={<Skeleton lines={1} className="h-80" />}>
            <Chart
              times={series.times}
              lines={[...series.values].map(([key, values]) => ({ name: nameOf(key), values }))}
              unit="%"
            />
          </Suspense>
        ) : series ? (
          <p className="border-y border-line py-4 text-sm text-ink-3">
            Rates are recorded every five minutes. The chart appears after the second record.
          </p>
        ) : (
          <Skeleton lines={1} className="h-80" />
        )}
      </Section>
    </>
  )
}

function nameOf(key: string): string {
  const [chain = '', protocol = '', asset = ''] = key.split(' ')
  return `${marketText({ protocol, chain })}, ${asset}`
}
