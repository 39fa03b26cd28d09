import { ServiceError } from '../../../domain/errors.js'
import type { Request, RequestHandler } from 'express'
import type { Services } from '../services.js'

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

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Keeps pages of others from an endpoint that is no part of a page. A page whose name an attacker has pointed at this
 * machine is of its own origin to the browser, so that the request's own host proves nothing.
 *
 * @param publicUrl - Where browsers find the service; absent: on this machine only.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
export function onlyKnownOrigins(publicUrl: string | undefined): RequestHandler {
  const expected = publicUrl && new URL(publicUrl).origin
  return (request, _response, next) => {
    const origin = request.get('origin')
    if (origin === undefined || origin === expected || (!expected && isLoopback(origin))) {
      next()
      return
    }
    throw new ServiceError('FORBIDDEN', 'Pages of other origins may not call this endpoint.')
  }
}

const isLoopback = (origin: string) =>
  URL.canParse(origin) && loopback.has(new URL(origin).hostname)

type Settings = Pick<Services['dashboard'], 'publicUrl' | 'trustedProxies'>

/** Where browsers find the service, without a slash at the end. */
export function hostUrl(settings: Settings, request: Request): string {
  if (settings.publicUrl !== undefined) return new URL(settings.publicUrl).origin
  const scheme = isOverTls(settings, request) ? 'https' : 'http'
  return `${scheme}://${request.get('host') ?? ''}`
}

/** Whether a browser has come over TLS. The service itself speaks none: its address says so, or proxies of ours. */
export function isOverTls({ publicUrl, trustedProxies = 0 }: Settings, request: Request): boolean {
  if (publicUrl !== undefined) return publicUrl.startsWith('https:')
  const told = trustedProxies > 0 ? (request.get('x-forwarded-proto')?.split(',') ?? []) : []
  // Some proxies add their word at the end, others pass on the one that they have heard.
  const scheme = told.at(-trustedProxies) ?? told[0]
  return scheme?.trim().toLowerCase() === 'https'
}
