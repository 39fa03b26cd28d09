/** What a redacted part of a text is replaced by. */
export const REDACTED = '[redacted]'

/** Bounded repeats keep the time of a search linear: a caller chooses the text. */
const urls = /\b[a-z][a-z\d+.-]{0,30}:\/\/[^\s"'`<>)]+/gi
const emails = /[^\s@]{1,64}@[^\s@]{1,255}/g
/** Long enough for a key, a token or a signature. */
const runs = /[\w+/=~-]{20,}/g
const prefixes = /\b(?:svc_(?:sk|rt)|whsec|bearer|basic)[_ ]\S+/gi

/** Identifiers of resources, addresses, UUIDs, and words of one case: none of them opens anything. */
const harmless = [
  /^(?:svc_wallet|intent|fund|key|wh|req|preview|acct|user)_[\da-z]{26}$/,
  /^0x[\da-f]{40}$/i,
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
  /^[a-z_/-]+$/,
  /^[A-Z_/-]+$/,
]

/**
 * A text of a caller for the request log, on one line. E-mail addresses, and runs that may be a key, a token or a
 * signature, are replaced. A URL keeps its host only.
 *
 * @param most - Maximum length in characters.
 */
export function redact(text: string, most: number): string {
  const line = text
    .replace(/[\p{C}\uFFFD\s]+/gu, ' ')
    .replace(urls, hostOf)
    .replace(emails, REDACTED)
    .replace(prefixes, REDACTED)
    .replace(runs, (run) => (harmless.some((one) => one.test(run)) ? run : REDACTED))
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

function hostOf(url: string): string {
  if (!URL.canParse(url)) return REDACTED
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}
