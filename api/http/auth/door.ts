import { ServiceError } from '../../../domain/errors.js'
import type { Request, Response } from 'express'
import type { Db } from '../../../db/connection/connect.js'
import type { Scope } from '../../../db/tenants/accounts.js'
import type { Search } from '../../../db/tenants/metering.js'
import type { Services } from '../services.js'

/** Whom a door has let in. Whatever he does is done in one account. */
export type Caller = { accountId: string }

/** What a route is for. */
export type Purpose = {
  /** `POST /intents`: the name under which a call is booked. */
  route: string
  /** What its callers must be allowed to do. */
  scope: Scope
}

/** A request at the door of a route. */
export type Visit = Purpose & {
  services: Services
  request: Request
  response: Response
  requestId: string
}

/** How a route knows its callers, and what it costs them. Callers of another kind have another door. */
export type Door<Known extends Caller = Caller> = {
  /** What a call costs its account. 0: nothing. */
  credits: number
  /**
   * Decides whether a request may go on, and sets the headers that each of its answers carries. A read is
   * charged here; a write is charged together with what it creates.
   *
   * @param search - A row of the caller's account that is looked up at the same time.
   * @throws {ServiceError} The refusal.
   */
  admit<Row>(visit: Visit, search?: Search<Row>): Promise<Known & { found: Row | undefined }>
  /** Gives a read its charge back, because it did not end well. Only 2xx answers are paid for. */
  refund(visit: Visit): Promise<void>
  /** Sets the headers of a write that ended well, by the credits that it was charged. */
  settle(visit: Visit, caller: Known, charged: number): void
  /**
   * Of callers who were let in, whether they would be still: asked every few seconds for those whose streams are
   * open, all at once. Doors of one kind share the function. Without it they stay until they leave.
   */
  stillKnown?(db: Db, callers: Known[]): Promise<boolean[]>
  /** Browsers may call from any origin: what opens this door they do not send by themselves. */
  anyOrigin?: true
}

export function toVisit(services: Services, response: Response, purpose: Purpose): Visit {
  const { req: request, locals } = response
  return { ...purpose, services, request, response, requestId: String(locals.requestId) }
}

/** Has a door decide, before anything else of the request is looked at. */
export function enter<Known extends Caller, Row = undefined>(
  door: Door<Known>,
  visit: Visit,
  search?: Search<Row>,
): Promise<Known & { found: Row | undefined }> {
  visit.response.locals.judged = true
  return door.admit(visit, search)
}

/** True when a request was let in or refused already. */
export const wasJudged = (response: Response): boolean => response.locals.judged === true

export function accountSuspended(): ServiceError {
  const message = 'This account is suspended. Ask the operator of this service to resume it.'
  return new ServiceError('FORBIDDEN', message)
}
