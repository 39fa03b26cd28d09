/** Shorter parts are versions or network names. Removing them would damage messages. */
const SECRET_LENGTH = 8

/**
 * Removes URLs from a text. Of the given URL it also removes the host, and every part of user, password, path and query
 * that is long enough for a key.
 *
 * @param url - The URL to hide.
 */
export function createRedaction(url: string): (text: string) => string {
  const { host, username, password, pathname, searchParams } = new URL(url)
  const parts = [username, password, ...pathname.split('/'), ...searchParams.values()]
  const written = parts.flatMap((part) => [part, decode(part)])
  const secrets = [host, ...written.filter(({ length }) => length >= SECRET_LENGTH)]
  return (text) =>
    secrets.reduce(
      (clean, secret) => clean.replaceAll(secret, '…'),
      text.replace(/\b(?:https?|wss?):\/\/[^\s"']+/gi, '…'),
    )
}

/** The URL-decoded part. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
