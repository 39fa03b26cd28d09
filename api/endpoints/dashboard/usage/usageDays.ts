import { DAY_MS } from '../../../../runtime/durations.js'
import type { Days } from '../../../../db/usage/usage.js'

/** A leap year. */
export const MOST_DAYS = 366

export const DEFAULT_DAYS = 30

const dayText = (at: number) => new Date(at).toISOString().slice(0, 10)

export const lastDays = (count: number): Days => ({
  from: dayText(Date.now() - (count - 1) * DAY_MS),
  to: dayText(Date.now()),
})
