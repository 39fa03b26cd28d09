import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { overviewQuery, usageDaysQuery } from '../../api/queries.js'
import { dayText, daysUntil } from '../../text/time.js'
import { Failure } from '../../ui/feedback/Failure.js'
import { Figures } from '../../ui/values/Figures.js'
import { PageHead, Section } from '../../ui/PageHead.js'
import { Ranges, spanText } from '../../ui/forms/Ranges.js'
import { useRange } from '../../ui/forms/useRange.js'
import { Skeleton } from '../../ui/feedback/Skeleton.js'
import { useNow } from '../../ui/values/Time.js'
import { sumByDay, sumByEndpoint } from './days.js'
import { EndpointTable } from './EndpointTable.js'
import { Ledger } from './Ledger.js'
import { UsageChart } from './UsageChart.js'

const ranges = ['7d', '30d', '90d'] as const
const lengths = { '7d': 7, '30d': 30, '90d': 90 }

/** Credits left, daily requests and the ledger. */
export function Usage() {
  return (
    <>
      <PageHead title="Usage & credits">
        Reads from this dashboard are free. Writes cost the same as the API call.
      </PageHead>
      <Left />
      <ByDay />
      <Ledger />
    </>
  )
}

function Left() {
  const { data, error, refetch } = useQuery(overviewQuery)
  if (error && !data) {
    return (
      <div className="mb-10">
        <Failure error={error} retry={() => void refetch()} />
      </div>
    )
  }
  const credits = data?.credits
  const month = credits?.month
  const bought = credits && month && credits.balance - month.left
  return (
    <Figures
      of={[
        {
          name: month
            ? `left of this month’s ${month.given.toLocaleString()}, until ${dayText(month.endsAt.slice(0, 10))} (UTC)`
            : 'left of this month',
          value: month?.left.toLocaleString(),
        },
        { name: 'purchased credits left, which do not expire', value: bought?.toLocaleString() },
        {
          name: credits ? `used so far, on plan ${credits.plan}` : 'used so far',
          value: credits?.totalUsed.toLocaleString(),
        },
      ]}
    />
  )
}

function ByDay() {
  const search = useSearch({ from: '/inside/credits' })
  const [range, setRange] = useRange(ranges, '30d')
  const navigate = useNavigate()
  const today = Math.floor(useNow() / 86_400_000) * 86_400_000
  const days = daysUntil(new Date(today), lengths[range])
  // A selected day may be outside of another range.
  const chosen = days.find((day) => day === search.day)
  const query = useQuery(usageDaysQuery({ from: days[0] ?? '', to: days.at(-1) ?? '' }))
  const rows = query.data?.data
  const choose = (day: string | undefined) =>
    void navigate({
      ...{ to: '/credits', search: { ...search, day } },
      ...{ replace: true, resetScroll: false },
    })
  return (
    <Section
      title={`Last ${spanText(range)}`}
      action={<Ranges ranges={ranges} value={range} onChange={setRange} />}
    >
      {rows ? (
        <>
          <UsageChart days={sumByDay(rows, days)} chosen={chosen} onChoose={choose} />
          <EndpointTable
            rows={sumByEndpoint(chosen ? rows.filter(({ day }) => day === chosen) : rows)}
            day={chosen}
          />
        </>
      ) : query.error ? (
        <Failure error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Skeleton lines={1} className="h-92" />
      )}
    </Section>
  )
}
