import { ServiceError } from '../../../domain/errors.js'
import type { Request, Response } from 'express'
import type { Db } from '../../../db/client/connect.js'
import type { Scope } from '../../../db/accounts/accounts.js'
import type { Search } from '../../../db/usage/metering.js'
import type { Services } from '../services.js'
import type { Caller } from './caller.js'

/** Name and required scope of a route. */
export type Purpose = {
  /** Name of the route in the ledger, such as `POST /intents`. */
  route: string
  /** Scope that callers need. */
  scope: Scope
}

/** A request to a route, before authentication. */
export type RequestContext = Purpose & {
  services: Services
  request: Request
  response: Response
  requestId: string
}

/** How a route authenticates its callers, and what it charges them. */
export type AuthScheme<Known extends Caller = Caller> = {
  /** Credits per call. */
  credits: number
  /**
   * Authenticates a request, and sets the headers that every response has. Reads are charged here. Writes are charged
   * in the transaction that commits their work.
   *
   * @param search - A row of the caller's account to look up in the same statement.
   * @throws {ServiceError} The rejection.
   */
  admit<Row>(
    context: RequestContext,
    search?: Search<Row>,
  ): Promise<Known & { found: Row | undefined }>
  /** Refunds a read whose response is not 2xx. */
  refund(context: RequestContext): Promise<void>
  /** Sets the headers of a successful write. `charged`: credits. */
  settle(context: RequestContext, caller: Known, charged: number): void
  /**
   * Whether callers are still authorized, in the order of `callers`. Checked every few seconds for all open streams
   * at once. Schemes of one kind share the function. Without it, streams stay open until the client disconnects.
   */
  stillKnown?(db: Db, callers: Known[]): Promise<boolean[]>
  /** Allows browsers of any origin (CORS): the credential is never sent automatically. */
  anyOrigin?: true
}

export function toRequestContext(
  services: Services,
  response: Response,
  purpose: Purpose,
): RequestContext {
  const { req: request, locals } = response
  return { ...purpose, services, request, response, requestId: String(locals.requestId) }
}

/** Authenticates a request before its input is read. */
export function authenticate<Known extends Caller, Row = undefined>(
  scheme: AuthScheme<Known>,
  context: RequestContext,
  search?: Search<Row>,
): Promise<Known & { found: Row | undefined }> {
  context.response.locals.judged = true
  return scheme.admit(context, search)
}

/** True when a request has already been authenticated or rejected. */
export const wasAuthenticated = (response: Response): boolean => response.locals.judged === true

export function accountSuspended(): ServiceError {
  const message = 'This account is suspended. Ask the operator of this service to resume it.'
  return new ServiceError('FORBIDDEN', message)
}
