/**
 * Shortens an identifier to its prefix and the ends of the rest.
 *
 * @param id - e.g. `intent_01m7y67v14e52t225qv2zm6kz4` or `0x69ea…`.
 * @returns e.g. `intent_01m7…6kz4`; short identifiers stay unchanged.
 */
export function shorten(id: string): string {
  const prefix = /^(0x|[a-z]+(_[a-z]+)*_)/.exec(id)?.[0] ?? ''
  const rest = id.slice(prefix.length)
  if (rest.length <= 12) return id
  return `${prefix}${rest.slice(0, 4)}…${rest.slice(-4)}`
}
