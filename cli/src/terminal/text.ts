/** What moves a cursor, retitles a window or turns the direction of writing round. */
// eslint-disable-next-line no-control-regex -- they are what it looks for
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text of others as it may stand on a terminal: a user id may hold what a terminal obeys. */
export const plain = (text: string): string => text.replace(controls, '\ufffd')

/** JSON that a terminal takes for text: the same value to whoever parses it. */
export function toJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, undefined, indent) ?? 'null'
  return text.replace(
    /[\u007f-\u009f]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** `0xf4bf35…db264b`: enough to tell two apart. */
export const shorten = (id: string): string =>
  id.length <= 18 ? id : `${id.slice(0, 10)}…${id.slice(-6)}`

/** `2.5 s`, `3:07 min`. */
export function formatDuration(ms: number): string {
  if (ms < 100_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`
}

/** Dollars with two digits; what is not nothing is never shown as nothing. */
export function formatUsd(usd: number): string {
  if (usd > 0 && usd < 0.01) return '< $0.01'
  return `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

export const formatPercent = (percent: number): string => `${percent.toFixed(2)} %`

/** A time of the API in the reader's zone: `2026-11-21 05:36:02`. */
export function formatTime(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return plain(iso)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${formatClock(at)}`
}

/** `05:36:02`, in the reader's zone. */
export function formatClock(at: Date): string {
  const parts = [at.getHours(), at.getMinutes(), at.getSeconds()]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
