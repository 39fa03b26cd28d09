import type { UsageDay } from '../../api/types.js'
import type { Day } from '../../ui/charts/DayChart.js'

export type EndpointUse = Omit<UsageDay, 'day'>

/** DaySums per day. Days without rows have zero requests. */
export function sumByDay(rows: readonly Day[], days: readonly string[]): Day[] {
  const sums = new Map(days.map((day) => [day, { day, requests: 0, errors: 0, credits: 0 }]))
  for (const row of rows) {
    const sum = sums.get(row.day)
    if (sum) add(sum, row)
  }
  return [...sums.values()]
}

/** DaySums per endpoint, most requests first. */
export function sumByEndpoint(rows: readonly UsageDay[]): EndpointUse[] {
  const sums = new Map<string, EndpointUse>()
  for (const { endpoint, requests, errors, credits } of rows) {
    const sum = sums.get(endpoint)
    if (sum) add(sum, { requests, errors, credits })
    else sums.set(endpoint, { endpoint, requests, errors, credits })
  }
  return [...sums.values()].sort((one, other) => other.requests - one.requests)
}

type DaySums = Omit<Day, 'day'>

function add(sum: DaySums, { requests, errors, credits }: DaySums): void {
  sum.requests += requests
  sum.errors += errors
  sum.credits += credits
}
