/** Formats times and durations. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration: `240 ms`, `2.5 s`, `48 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. */
export function durationText(ms: number): string {
  const span = Math.max(0, ms)
  if (span < SECOND) return `${Math.round(span)} ms`
  if (span < 10 * SECOND) return `${(Math.floor(span / 100) / 10).toFixed(1)} s`
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`
  if (span < DAY) return joinUnits(span, [HOUR, 'h'], [MINUTE, 'min'])
  return joinUnits(span, [DAY, 'd'], [HOUR, 'h'])
}

type Unit = [ms: number, name: string]

function joinUnits(span: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((span % large) / small)
  const first = `${Math.floor(span / large)} ${largeName}`
  return rest ? `${first} ${rest} ${smallName}` : first
}

const PAST_NOW = 5 * SECOND
/** The clock of the service may be ahead of the browser's by this much. */
const SKEW = 15 * SECOND

/** A relative time: `now`, `12 s ago`, `in 3 h`. From a week on, the date. */
export function agoText(at: Date, now: Date, locale?: string): string {
  const span = now.getTime() - at.getTime()
  if (span < PAST_NOW && span > -SKEW) return 'now'
  if (Math.abs(span) >= 7 * DAY) return dateText(at, now, locale)
  // A key that was made for a day expires in 24 h, not in 23 h.
  return span > 0 ? `${coarseText(span, Math.floor)} ago` : `in ${coarseText(-span, Math.round)}`
}

function coarseText(span: number, whole: (count: number) => number): string {
  if (span < MINUTE) return `${whole(span / SECOND)} s`
  if (span < HOUR) return `${whole(span / MINUTE)} min`
  if (span < DAY) return `${whole(span / HOUR)} h`
  return `${whole(span / DAY)} d`
}

function dateText(at: Date, now: Date, locale?: string): string {
  const year = at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return at.toLocaleDateString(locale, { day: 'numeric', month: 'short', ...year })
}

/** The exact time in the local time zone, with seconds and the name of the zone. */
export const exactText = (at: Date, locale?: string) =>
  at.toLocaleString(locale, {
    ...{ year: 'numeric', month: 'short', day: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
  })

/** The last `count` days in UTC (`2026-11-22`), oldest first, including the day of `end`. */
export const daysUntil = (end: Date, count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    new Date(end.getTime() - (count - 1 - index) * DAY).toISOString().slice(0, 10),
  )

/** A UTC day as `22 Nov`. */
export const dayText = (day: string, locale?: string) =>
  new Date(`${day}T00:00Z`).toLocaleDateString(locale, {
    ...{ day: 'numeric', month: 'short', timeZone: 'UTC' },
  })
