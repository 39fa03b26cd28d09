import type { RequestHandler } from 'express'

/** Long enough to spare the service, short enough for a new release to show. */
export const CACHE = 'public, max-age=300'

/**
 * Answers with a text that does not change while the process runs.
 *
 * @param create - Called at the first request.
 * @param policy - Content security policy, for a page.
 */
export function sendText(type: string, create: () => string, policy?: string): RequestHandler {
  let body: Buffer | undefined
  return (_request, response) => {
    body ??= Buffer.from(create())
    if (policy) response.set('Content-Security-Policy', policy)
    response.set('Cache-Control', CACHE).type(type).send(body)
  }
}
