/** Characters that move the cursor, change the window title or reverse the text direction. */
// eslint-disable-next-line no-control-regex -- the expression matches control characters
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Replaces control characters in foreign text: a user id may contain terminal commands. */
export const plain = (text: string): string => text.replace(controls, '\ufffd')

/** JSON with terminal control characters escaped. It parses to the same value. */
export function toJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, undefined, indent) ?? 'null'
  return text.replace(
    /[\u007f-\u009f]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A shortened id, such as `0xf4bf35d7…db264b`. */
export const shorten = (id: string): string =>
  id.length <= 18 ? id : `${id.slice(0, 10)}…${id.slice(-6)}`

/** `2.5 s`, `3:07 min`. */
export function formatDuration(ms: number): string {
  if (ms < 100_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`
}

/** Dollars with two decimals. A positive amount is never shown as zero. */
export function formatUsd(usd: number | null): string {
  if (usd === null) return 'unknown'
  if (usd > 0 && usd < 0.01) return '< $0.01'
  return `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

export const formatPercent = (percent: number): string => `${percent.toFixed(2)} %`

/** An API time in the local time zone: `2026-11-21 05:36:02`. */
export function formatTime(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return plain(iso)
  const two = (part: number) => String(part).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${formatClock(at)}`
}

/** `05:36:02`, in the local time zone. */
export function formatClock(at: Date): string {
  const parts = [at.getHours(), at.getMinutes(), at.getSeconds()]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
