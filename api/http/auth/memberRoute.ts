import { isKnownPair } from '../../../db/accounts/users.js'
import { scopeSession, transactScoped } from '../../../db/client/scope.js'
import { lockAccount } from '../../../db/usage/metering.js'
import { ServiceError } from '../../../domain/errors.js'
import { addressOf } from './browser.js'
import { authenticate, toRequestContext, type Purpose } from './authScheme.js'
import { readJson } from '../body/readJson.js'
import { beginCommit } from '../deadline.js'
import { parseInput, type InputSpec, type Schema } from '../input.js'
import { session } from './session.js'
import { rateLimited, setRateLimitHeaders } from '../rateLimit.js'
import type { Request, RequestHandler, Response, Router } from 'express'
import type { z } from 'zod'
import type { Db } from '../../../db/client/connect.js'
import type { Member } from '../../../db/accounts/sessions.js'
import type { Role } from '../../../domain/roles.js'
import type { Services } from '../services.js'

/** An endpoint for the dashboard only. The published document leaves it out. */
export type DashboardRoute = {
  method: 'get' | 'post'
  spec: { path: string }
  mount(services: Services, router: Router): void
}

type DashboardSpec<Params extends Schema, Query extends Schema, Body extends Schema> = InputSpec<
  Params,
  Query,
  Body
> & { method: 'get' | 'post'; path: string }

/** Validated input of an endpoint, with request and response for endpoints that set cookies. */
export type Visited<Params = unknown, Query = unknown, Body = unknown> = {
  request: Request
  response: Response
  requestId: string
  params: Params
  query: Query
  body: Body
}

type DashboardResponse = { status: 200 | 201; body: unknown }
type Handler<Call> = (services: Services, call: Call) => Promise<DashboardResponse>

/** A dashboard endpoint for signed-in members with one of these roles. */
export function memberRoute<Params extends Schema, Query extends Schema, Body extends Schema>(
  { roles, ...spec }: DashboardSpec<Params, Query, Body> & { roles: readonly Role[] },
  handler: Handler<Visited<z.infer<Params>, z.infer<Query>, z.infer<Body>> & { caller: Member }>,
): DashboardRoute {
  const scheme = session({ credits: 0 })
  // Every role has the scope `read`. The check of roles below decides who may write.
  const purpose: Purpose = { route: nameOf(spec), scope: 'read' }
  return mountable(spec, async (services, request, response) => {
    const context = toRequestContext(services, response, purpose)
    const caller = await authenticate(scheme, context)
    if (!roles.includes(caller.role)) {
      const message = `A ${caller.role} may not do this. Ask a member who is ${roles.join(' or ')}.`
      throw new ServiceError('FORBIDDEN', message)
    }
    const input = await readInput(spec, request, response)
    if (spec.method === 'post') beginCommit(response)
    const { requestId } = context
    return handler(services, { caller, request, response, requestId, ...input })
  })
}

type OpenSpec<Params extends Schema, Query extends Schema, Body extends Schema> = DashboardSpec<
  Params,
  Query,
  Body
> & {
  /** The e-mail of a call. When it is known at the address, the limit by address does not apply to it. */
  emailOf?(body: z.infer<Body>): string
}

/** A dashboard endpoint without a session. Calls are limited per address. */
export function openRoute<Params extends Schema, Query extends Schema, Body extends Schema>(
  { emailOf, ...spec }: OpenSpec<Params, Query, Body>,
  handler: Handler<Visited<z.infer<Params>, z.infer<Query>, z.infer<Body>>>,
): DashboardRoute {
  return mountable(spec, async (services, request, response) => {
    response.locals.judged = true
    const { authFailures, db } = services
    const address = addressOf(services, request)
    const window = authFailures.count(address)
    setRateLimitHeaders(response, window)
    const isOver = window.used > window.limit
    if (isOver && !emailOf) throw rateLimited(window)
    const input = await readInput(spec, request, response)
    if (isOver && emailOf) {
      const email = emailOf(input.body)
      if (!(await isKnownPair(db, { address, email }))) throw rateLimited(window)
      const own = authFailures.count(`${address} ${email}`)
      if (own.used > own.limit) throw rateLimited(own)
    }
    const requestId = String(response.locals.requestId)
    return handler(services, { request, response, requestId, ...input })
  })
}

const nameOf = ({ method, path }: { method: string; path: string }) =>
  `${method.toUpperCase()} ${path}`

function mountable(
  { method, path }: { method: 'get' | 'post'; path: string },
  answer: (services: Services, request: Request, response: Response) => Promise<DashboardResponse>,
): DashboardRoute {
  return {
    method,
    spec: { path },
    mount(services, router) {
      const handle: RequestHandler = async (request, response) => {
        const { status, body } = await answer(services, request, response)
        // The deadline may have sent a response already.
        if (!response.headersSent) response.status(status).json(body)
      }
      router[method](path, handle)
    },
  }
}

async function readInput<Params extends Schema, Query extends Schema, Body extends Schema>(
  spec: DashboardSpec<Params, Query, Body>,
  request: Request,
  response: Response,
) {
  if (spec.method === 'post') await readJson(spec, request, response)
  return parseInput(spec, request)
}

/**
 * Runs a member's work in one transaction that is scoped to the account and attributes entries of the audit log to the
 * member. It locks the account, so that counts in it are exact.
 */
export function actAs<T>(
  db: Db,
  { caller: { accountId, tokenHash }, response }: { caller: Member; response: Response },
  work: (trx: Db) => Promise<T>,
): Promise<T> {
  return transactScoped(db, accountId, async (trx) => {
    await scopeSession(trx, tokenHash)
    await lockAccount(trx, accountId)
    const result = await work(trx)
    beginCommit(response)
    return result
  })
}
