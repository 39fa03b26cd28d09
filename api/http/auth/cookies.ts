import { isOverTls } from './origin.js'
import type { Request, Response } from 'express'
import type { Services } from '../services.js'

/** Maximum lifetime of a session. */
const MAX_AGE_S = 30 * 86_400

const overTls = { name: '__Host-steward_session', scope: 'Path=/; Secure' }
const plain = { name: 'steward_session', scope: 'Path=/dashboard' }

/**
 * The session cookie. Over TLS it has the `__Host-` prefix: browsers then reject it from any other host, subdomains
 * included. The prefix requires the path `/` and is not available without TLS.
 *
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-4.1.3.2
 */
export function sessionCookie(dashboard: Services['dashboard']) {
  const kindFor = (request: Request) => (isOverTls(dashboard, request) ? overTls : plain)
  const set = (response: Response, value: string, maxAge: number) => {
    const { name, scope } = kindFor(response.req)
    const cookie = `${name}=${value}; ${scope}; HttpOnly; SameSite=Lax; Max-Age=${maxAge}`
    response.append('Set-Cookie', cookie)
  }
  return {
    read: (request: Request): string | undefined =>
      valueOf(request.headers.cookie, kindFor(request).name),
    give: (response: Response, token: string) => {
      set(response, token, MAX_AGE_S)
    },
    clear: (response: Response) => {
      set(response, '', 0)
    },
  }
}

function valueOf(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name) return value
  }
  return undefined
}
