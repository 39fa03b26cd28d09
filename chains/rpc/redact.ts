/** What is shorter is a version or a network's name, and would take words out of sentences. */
const SECRET_LENGTH = 8

/**
 * Takes out of a text whatever leads to an address or lets somebody in there: every URL, and of this one the host, and
 * what is long enough for a key in user, password, path and query.
 *
 * @param url - The address of which nothing may be told.
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

/** As it was before it was written into a URL. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
