import { useQuery } from '@tanstack/react-query'
import { overviewQuery, yieldsQuery } from '../../api/queries.js'
import type { OverviewState } from '../../api/types.js'
import { percentText } from '../../text/amount.js'
import { marketText } from '../../text/names.js'
import { exactText } from '../../text/time.js'
import { Figures } from '../../ui/values/Figures.js'

/** The account in four numbers. */
export function Standing() {
  const { data } = useQuery(overviewQuery)
  const { data: yields } = useQuery(yieldsQuery)
  const best = yields?.best
  const market = best && `best rate: ${marketText(best)}`
  return (
    <Figures
      of={[
        { name: 'credits left', value: data?.credits.balance.toLocaleString(), to: '/credits' },
        {
          name: 'requests in 24 hours',
          value: data?.requests.day.requests.toLocaleString(),
          hint: data && sinceText(data.requests.day),
          to: '/requests',
        },
        {
          name: 'of requests succeeded in 7 days',
          value: data && rateText(data.requests.week),
          hint: data && sinceText(data.requests.week),
          to: '/requests',
        },
        {
          name: market ?? 'best rate',
          value: best ? percentText(best.apy) : yields && '–',
          to: '/yields',
        },
      ]}
    />
  )
}

type PeriodRequests = OverviewState['requests']['day']

const sinceText = ({ since, requests, errors }: PeriodRequests) =>
  `${requests.toLocaleString()} requests, ${errors.toLocaleString()} failed, since ${exactText(new Date(since))}`

/** The success rate in percent, rounded down: it is 100 % only without failures. */
function rateText({ requests, errors }: PeriodRequests): string {
  if (requests === 0) return '–'
  return percentText(Math.floor(((requests - errors) / requests) * 10_000) / 100)
}
