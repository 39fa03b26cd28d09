/** The filters of the list of intents in the query string. */
export type IntentSearch = Partial<
  Record<'status' | 'action' | 'userId' | 'errorCode' | 'from' | 'until', string | undefined>
>

const DAY_MS = 86_400_000

/** The filter of the API. `from` and `until` are days in UTC, both included. Its times are exclusive. */
export function filterOf({ from, until, ...search }: IntentSearch) {
  return {
    ...search,
    createdAfter: from && timeAt(Date.parse(from) - 1, from),
    createdBefore: until && timeAt(Date.parse(until) + DAY_MS, until),
  }
}

/** An invalid day is sent as it is, so that the API explains it. */
const timeAt = (ms: number, day: string) => (Number.isNaN(ms) ? day : new Date(ms).toISOString())
