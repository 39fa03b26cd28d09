import type { UsageDay } from '../../api/types.js'

export type UseDay = { day: string; requests: number; errors: number; credits: number }
export type EndpointUse = Omit<UsageDay, 'day'>

/** DaySums per day. Days without rows have zero requests. */
export function sumByDay(rows: readonly UseDay[], days: readonly string[]): UseDay[] {
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

type DaySums = Omit<UseDay, 'day'>

function add(sum: DaySums, { requests, errors, credits }: DaySums): void {
  sum.requests += requests
  sum.errors += errors
  sum.credits += credits
}
