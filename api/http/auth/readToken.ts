import { admitToken, readTokenDigest, type TokenHolder } from '../../../db/accounts/readTokens.js'
import { ServiceError } from '../../../domain/errors.js'
import { apiKey, areKeysKnown } from './apiKey.js'
import { addressOf } from './browser.js'
import { countFailure, guardAddress } from './guardAddress.js'
import { setCredits } from '../credits.js'
import { rateLimited, setRateLimitHeaders } from '../rateLimit.js'
import type { Request, RequestHandler, Response } from 'express'
import type { Admission, Search } from '../../../db/usage/metering.js'
import type { AuthScheme, RequestContext } from './authScheme.js'
import type { Services } from '../services.js'

/** Requests per token and minute. They do not count against the limit of the account. */
const TOKEN_LIMIT = 60

/**
 * The auth scheme of programs with an API key, and of browsers with a token for the intent in the path. Neither
 * credential is sent by a browser automatically, so any origin is allowed.
 */
export function keyOrReadToken({
  credits,
}: {
  credits: number
}): AuthScheme<Admission | TokenHolder> {
  const byKey = apiKey({ credits })
  return {
    ...byKey,
    anyOrigin: true,
    admit<Row>(context: RequestContext, search?: Search<Row>) {
      const token = tokenOf(context.request)
      return token === undefined
        ? byKey.admit(context, search)
        : admitHolder(context, token, search)
    },
    async refund(context) {
      if (tokenOf(context.request) === undefined) await byKey.refund(context)
    },
    settle: () => undefined,
    stillKnown: areKeysKnown,
  }
}

/** From the header, or from the query where no header can be sent, as by an EventSource. */
function tokenOf(request: Request): string | undefined {
  const authorization = request.get('authorization')
  if (authorization !== undefined) return /^Bearer (svc_rt_\S*)$/i.exec(authorization)?.[1]
  const { token } = request.query
  return typeof token === 'string' ? token : undefined
}

/** @throws {ServiceError} UNAUTHORIZED, RATE_LIMITED, FORBIDDEN. */
async function admitHolder<Row>(context: RequestContext, token: string, search?: Search<Row>) {
  const { services, request, response } = context
  const { db } = services
  allowAnyOrigin(response)
  await guardAddress(context, readTokenDigest(token))
  const holder = await admitToken(db, token)
  if (!holder) {
    countFailure(context)
    response.setHeader('WWW-Authenticate', 'Bearer')
    throw new ServiceError(
      'UNAUTHORIZED',
      'The read token is unknown or expired. Create a new one.',
    )
  }
  const window = { ...holder, limit: TOKEN_LIMIT }
  setRateLimitHeaders(response, window)
  setCredits(response, 0, 0n)
  response.removeHeader('X-Credits-Remaining')
  if (holder.used > TOKEN_LIMIT) throw rateLimited(window)
  if (request.params.intentId !== holder.intentId) {
    throw new ServiceError('FORBIDDEN', 'This token is for another intent.')
  }
  const found = search && (await search.lookup.find(db, holder.accountId, search.key))
  return { ...holder, found }
}

function allowAnyOrigin(response: Response): void {
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Access-Control-Expose-Headers', 'X-Request-Id, X-Intent-Version, Retry-After')
}

const PREFLIGHT_KEPT_S = 7_200

/**
 * Responds to the preflight request that a browser sends before a request with its own headers. A preflight has no
 * credentials, so none are required.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export const answerPreflight =
  (services: Pick<Services, 'authFailures' | 'dashboard'>): RequestHandler =>
  (request, response, next) => {
    if (request.get('access-control-request-method') === undefined) {
      next()
      return
    }
    setRateLimitHeaders(response, services.authFailures.peek(addressOf(services, request)))
    allowAnyOrigin(response)
    response.setHeader('Access-Control-Allow-Methods', 'GET')
    response.setHeader('Access-Control-Allow-Headers', 'Authorization, Last-Event-ID')
    response.setHeader('Access-Control-Max-Age', PREFLIGHT_KEPT_S)
    response.status(204).end()
  }
