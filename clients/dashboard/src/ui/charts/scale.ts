/** Scales of a chart: round values and times for its axes. */

const roundSteps = [1, 2, 2.5, 5, 10]

/**
 * Round values that enclose two values, the lowest first.
 *
 * @param most - The most steps between them.
 * @returns Multiples of 1, 2, 2.5 or 5 times a power of ten: `0, 25, 50, 75, 100`.
 */
export function valueTicks(low: number, high: number, most: number): number[] {
  const span = high - low || Math.abs(high) || 1
  const power = 10 ** Math.floor(Math.log10(span / most))
  const step = (roundSteps.find((round) => round * power * most >= span) ?? 10) * power
  const first = Math.floor(low / step + EPSILON)
  const last = Math.max(first + 1, Math.ceil(high / step - EPSILON))
  // Multiplied, not added, and rounded: sums of 0.1 are not round.
  const places = Math.max(0, 2 - Math.floor(Math.log10(step)))
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toFixed(places)),
  )
}

const EPSILON = 1e-9

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const timeSteps = [
  ...[5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  ...[DAY, 2 * DAY, 5 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 60 * DAY, 90 * DAY],
]

export type Zone = 'local' | 'UTC'
export type TimeTick = { at: number; text: string }

/**
 * Round times within a range with their labels: days from a step of a day on, otherwise hours.
 *
 * @param range - Both included, in Unix ms.
 * @param most - The most ticks. It depends on the width, so that labels do not overlap.
 */
export function timeTicks(
  [from, to]: readonly [number, number],
  most: number,
  zone: Zone,
): TimeTick[] {
  // Hours of several days would need their dates.
  const least = to - from > 1.5 * DAY ? DAY : 0
  const step = timeSteps.find((each) => each >= least && (to - from) / each < most) ?? 90 * DAY
  const first = Math.ceil((from + offsetAt(from, zone)) / step) * step
  const count = Math.max(0, Math.floor((to + offsetAt(to, zone) - first) / step) + 1)
  return Array.from({ length: count }, (_, index) => {
    const local = first + index * step
    const at = local - offsetAt(local - offsetAt(local, zone), zone)
    return { at, text: step >= DAY ? dateOf(at, zone) : timeOf(at, zone) }
  })
}

/** Milliseconds by which the clock of a zone is ahead of UTC. */
const offsetAt = (at: number, zone: Zone) =>
  zone === 'UTC' ? 0 : -new Date(at).getTimezoneOffset() * MINUTE

const inZone = (zone: Zone) => (zone === 'UTC' ? { timeZone: 'UTC' } : {})

/** `22 Nov` */
export const dateOf = (at: number, zone: Zone) =>
  new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short', ...inZone(zone) })

/** `14:00` */
export const timeOf = (at: number, zone: Zone) =>
  new Date(at).toLocaleTimeString(undefined, {
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...inZone(zone) },
  })

/** `22 Nov, 14:00` */
export const momentOf = (at: number, zone: Zone) => `${dateOf(at, zone)}, ${timeOf(at, zone)}`
