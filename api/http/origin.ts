import { ServiceError } from '../../domain/errors.js'
import type { Request, RequestHandler } from 'express'

/**
 * Lets writes of the dashboard's own pages through. Browsers send their cookies along with requests that other
 * sites make, and say in `Origin` whose page it was.
 *
 * @param publicUrl - Where browsers find the service; absent: wherever a request came to.
 */
export function onlySameOrigin(publicUrl: string | undefined): RequestHandler {
  const expected = publicUrl && new URL(publicUrl).origin
  return (request, _response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') {
      next()
      return
    }
    const origin = request.get('origin')
    if (origin === undefined || !isOwn(origin, request, expected)) {
      const message = 'Writes below /dashboard/api come from the pages of the dashboard only.'
      throw new ServiceError('FORBIDDEN', message)
    }
    next()
  }
}

function isOwn(origin: string, request: Request, expected: string | undefined): boolean {
  if (expected !== undefined) return origin === expected
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false
  return new URL(origin).host === request.get('host')
}

/** Where browsers find the service, without a slash at the end. */
export const hostUrl = (publicUrl: string | undefined, request: Request): string =>
  publicUrl === undefined
    ? `${request.protocol}://${request.get('host') ?? ''}`
    : new URL(publicUrl).origin
