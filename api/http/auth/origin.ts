import { ServiceError } from '../../../domain/errors.js'
import type { Request, RequestHandler } from 'express'
import type { Services } from '../services.js'

/**
 * Accepts writes from the dashboard's own pages only. Browsers also send cookies with requests of other sites, and
 * name the origin of the page in `Origin`.
 *
 * @param publicUrl - URL of the service for browsers. Default: the host of each request.
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
      const message = 'Only pages of the dashboard may write below /dashboard/api.'
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
 * Rejects pages of other origins at an endpoint that no page of the service calls. After DNS rebinding the request's
 * host is the attacker's name, so it is not compared with the origin.
 *
 * @param publicUrl - URL of the service for browsers. Default: loopback names only.
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

type HostSettings = Pick<Services['dashboard'], 'publicUrl' | 'trustedProxies'>

/** URL of the service for browsers, without a trailing slash. */
export function hostUrl(settings: HostSettings, request: Request): string {
  if (settings.publicUrl !== undefined) return new URL(settings.publicUrl).origin
  const scheme = isOverTls(settings, request) ? 'https' : 'http'
  return `${scheme}://${request.get('host') ?? ''}`
}

/** True when the browser uses TLS, by PUBLIC_URL or X-Forwarded-Proto of a trusted proxy. The service itself has no TLS. */
export function isOverTls(
  { publicUrl, trustedProxies = 0 }: HostSettings,
  request: Request,
): boolean {
  if (publicUrl !== undefined) return publicUrl.startsWith('https:')
  const forwarded = trustedProxies > 0 ? (request.get('x-forwarded-proto')?.split(',') ?? []) : []
  // Some proxies append a value, others pass on the one they received.
  const scheme = forwarded.at(-trustedProxies) ?? forwarded[0]
  return scheme?.trim().toLowerCase() === 'https'
}
