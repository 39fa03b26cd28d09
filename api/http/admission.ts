import { admit, refund, type Admission, type Search } from '../../db/tenants/metering.js'
import { keyDigest, type Scope } from '../../db/tenants/accounts.js'
import { ServiceError } from '../../domain/errors.js'
import type { Request, Response } from 'express'
import type { Services } from './services.js'
import type { Window } from './shield.js'

const BEARER = /^Bearer (\S+)$/i

/** What a route costs and needs. */
export type Tariff = {
  /** `POST /intents`: the name under which the ledger books the call. */
  name: string
  credits: number
  scope: Scope
}

/**
 * Decides whether a request may go on, before anything else of it is looked at: key, rate, scope, credits.
 * Sets the rate and credit headers that every answer carries. A GET is charged here; a POST is charged
 * together with what it creates.
 *
 * @param search - A row that is looked up in the same statement.
 * @throws {ServiceError} UNAUTHORIZED, RATE_LIMITED, FORBIDDEN, INSUFFICIENT_CREDITS.
 */
export async function admitRequest<Row>(
  { db, shield }: Services,
  { name, credits, scope }: Tariff,
  request: Request,
  response: Response,
  search?: Search<Row>,
) {
  response.locals.judged = true
  const address = request.socket.remoteAddress ?? ''
  const guarded = shield.peek(address)
  setWindow(response, guarded)
  const key = keyOf(request)
  if (guarded.used >= guarded.limit && !shield.trusts(key)) throw rateLimited(guarded)
  const requestId = String(response.locals.requestId)
  const cost = request.method === 'POST' ? 0 : credits
  const call = { requestId, cost, route: name, scope }
  const admission = key === undefined ? undefined : await admit(db, { key, ...call }, search)
  if (key === undefined || !admission) {
    setWindow(response, shield.count(address))
    throw unauthorized(request)
  }
  shield.trust(admission.keyDigest)
  setWindow(response, admission)
  setCredits(response, admission.verdict === 'admitted' ? cost : 0, admission.balance)
  assertAdmitted(admission, scope, credits)
  return admission
}

/** True when a request was let in or refused already. */
export const wasJudged = (response: Response): boolean => response.locals.judged === true

/** Gives a charged request its credits back, because it did not end well. Only 2xx answers are paid for. */
export async function refundRequest({ db, log }: Services, response: Response): Promise<void> {
  const requestId = String(response.locals.requestId)
  await refund(db, requestId).catch((error: unknown) => {
    log.error({ err: error, requestId }, 'refund failed')
  })
}

/** Takes back what the headers say of a charge, unless they have gone already. */
export function forgetCharge(response: Response): void {
  if (response.headersSent || !(Number(response.get('X-Credits-Charged')) > 0)) return
  response.set('X-Credits-Charged', '0')
  response.removeHeader('X-Credits-Remaining')
}

function assertAdmitted(admission: Admission, scope: Tariff['scope'], credits: number): void {
  if (admission.verdict === 'rateLimited') throw rateLimited(admission)
  if (admission.verdict === 'outOfScope') {
    throw new ServiceError(
      'FORBIDDEN',
      `This key may not ${scope}. Use one with the scope ${scope}.`,
    )
  }
  if (admission.verdict === 'outOfCredits') throw outOfCredits(credits, admission.balance)
}

const keyOf = (request: Request) => BEARER.exec(request.get('authorization') ?? '')?.[1]

function setWindow(response: Response, window: RateWindow): void {
  for (const [name, value] of Object.entries(windowHeaders(window))) response.setHeader(name, value)
}

type RateWindow = Pick<Window, 'limit' | 'used' | 'resetAt'>

/** The headers by which every answer tells its caller's window. */
export const windowHeaders = ({ limit, used, resetAt }: RateWindow) => ({
  'X-RateLimit-Limit': String(limit),
  'X-RateLimit-Remaining': String(Math.max(0, limit - used)),
  'X-RateLimit-Reset': String(resetAt),
})

export function setCredits(response: Response, charged: number, remaining: bigint): void {
  response.setHeader('X-Credits-Charged', String(charged))
  response.setHeader('X-Credits-Remaining', String(remaining))
}

/** Says no more of a key that looks like one than that it is not valid. */
function unauthorized(request: Request): ServiceError {
  const key = keyOf(request)
  if (!request.get('authorization')) {
    const message = 'The API key is missing. Send it as `Authorization: Bearer svc_sk_…`.'
    return new ServiceError('UNAUTHORIZED', message)
  }
  if (key === undefined || !keyDigest(key)) {
    const message =
      'The API key is malformed. Send `Authorization: Bearer` and the key as it was issued: ' +
      '`svc_sk_` and 64 hexadecimal characters.'
    return new ServiceError('UNAUTHORIZED', message)
  }
  return new ServiceError('UNAUTHORIZED', 'The API key is unknown, revoked or expired.')
}

export function outOfCredits(required: number, available: bigint): ServiceError {
  const price = `${required} ${required === 1 ? 'credit' : 'credits'}`
  const message = `This call costs ${price}; the account has ${available} left.`
  return new ServiceError('INSUFFICIENT_CREDITS', message, {
    required,
    available: Number(available),
  })
}

function rateLimited({ limit, retryAfter }: Window): ServiceError {
  const message = `More than ${limit} requests in a minute. Try again in ${retryAfter} s.`
  return new ServiceError('RATE_LIMITED', message, { limit, window: '1 minute', retryAfter })
}
