import { admit, refund, type Admission, type Search } from '../../../db/usage/metering.js'
import { areKnown } from '../../../db/accounts/sessionValidity.js'
import { isKeyShaped, keyDigest, type Scope } from '../../../db/accounts/accounts.js'
import { ServiceError } from '../../../domain/errors.js'
import { outOfCredits, setCredits } from '../credits.js'
import { countFailure, guardAddress } from './guardAddress.js'
import { noteSender } from '../requestLog.js'
import { accountSuspended, type AuthScheme, type RequestContext } from './authScheme.js'
import { rateLimited, setRateLimitHeaders } from '../rateLimit.js'
import type { Request } from 'express'
import type { Db } from '../../../db/client/connect.js'

const bearer = /^Bearer (\S+)$/i

/** Cost of a call with an API key, in credits. */
type Price = {
  credits: number
  /** The call refunds another call, so the remaining balance is not reported. */
  refunds?: boolean
}

/** The auth scheme of programs: an API key, charged to the credits of its account. */
export function apiKey({ credits, refunds = false }: Price): AuthScheme<Admission> {
  return {
    credits,
    admit: (context, search) => admitKey(context, credits, search),
    async refund({ services: { db, log }, requestId }) {
      if (credits === 0) return
      await refund(db, requestId).catch((error: unknown) => {
        log.error({ err: error, requestId }, 'refund failed')
      })
    },
    settle({ response }, { balance }, charged) {
      setCredits(response, charged, balance - BigInt(charged))
      if (refunds) response.removeHeader('X-Credits-Remaining')
    },
    stillKnown: areKeysKnown,
  }
}

/** Whether the keys of callers are still valid. One statement for all callers. */
export async function areKeysKnown(db: Db, callers: { keyDigest: string }[]) {
  return areKnown(
    db,
    callers.map(({ keyDigest }) => keyDigest),
  )
}

/**
 * Checks key, rate limit, scope and credits. Sets the rate-limit and credit headers.
 *
 * @throws {ServiceError} UNAUTHORIZED, RATE_LIMITED, FORBIDDEN, INSUFFICIENT_CREDITS.
 */
async function admitKey<Row>(context: RequestContext, credits: number, search?: Search<Row>) {
  const { services, request, response, requestId, route, scope } = context
  const key = keyOf(request)
  await guardAddress(context, key === undefined ? undefined : keyDigest(key))
  const cost = scope === 'read' ? credits : 0
  const call = { requestId, cost, route, scope }
  const admission =
    key === undefined ? undefined : await admit(services.db, { key, ...call }, search)
  if (!admission) {
    countFailure(context)
    throw unauthorized(context)
  }
  setRateLimitHeaders(response, admission)
  setCredits(response, admission.verdict === 'admitted' ? cost : 0, admission.balance)
  noteSender(response, { accountId: admission.accountId, keyDigest: admission.keyDigest })
  assertAdmitted(admission, scope, credits)
  return admission
}

function assertAdmitted(admission: Admission, scope: Scope, credits: number): void {
  if (admission.verdict === 'rateLimited') throw rateLimited(admission)
  if (admission.verdict === 'suspended') throw accountSuspended()
  if (admission.verdict === 'outOfScope') {
    throw new ServiceError(
      'FORBIDDEN',
      `This key may not ${scope}. Use one with the scope ${scope}.`,
    )
  }
  if (admission.verdict === 'outOfCredits') throw outOfCredits(credits, admission.balance)
}

const keyOf = (request: Request) => bearer.exec(request.get('authorization') ?? '')?.[1]

/** For a key with a valid checksum, the message does not reveal why the key is invalid. */
function unauthorized({ request, response }: RequestContext): ServiceError {
  response.setHeader('WWW-Authenticate', 'Bearer')
  const key = keyOf(request)
  if (!request.get('authorization')) {
    const message = 'The API key is missing. Send it as `Authorization: Bearer svc_sk_…`.'
    return new ServiceError('UNAUTHORIZED', message)
  }
  if (key === undefined || !isKeyShaped(key)) {
    const message =
      'The API key is malformed. Send `Authorization: Bearer` and the key as it was issued: ' +
      '`svc_sk_` and 64 hexadecimal characters.'
    return new ServiceError('UNAUTHORIZED', message)
  }
  if (!keyDigest(key)) {
    const message =
      'The checksum of the API key does not match: a character is probably mistyped. Copy the key again.'
    return new ServiceError('UNAUTHORIZED', message)
  }
  return new ServiceError('UNAUTHORIZED', 'The API key is unknown, revoked or expired.')
}
