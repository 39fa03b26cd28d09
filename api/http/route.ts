import { z } from 'zod'
import {
  answerOnce,
  readName,
  toIdempotencyKey,
  type Answer,
  type CallName,
  type Commit,
} from './commit.js'
import { closeSignal, postponeDeadline } from './deadline.js'
import {
  authenticate,
  toRequestContext,
  type AuthScheme,
  type Purpose,
  type RequestContext,
} from './auth/authScheme.js'
import type { Caller } from './auth/caller.js'
import { answerPreflight } from './auth/readToken.js'
import { readJson } from './body/readJson.js'
import { parseInput, type Given, type InputSpec, type Schema } from './input.js'
import { noteSubject } from './requestLog.js'
import type { Response, Router } from 'express'
import type { Docs } from './docs.js'
import type { Scope } from '../../db/accounts/accounts.js'
import type { Lookup } from '../../db/client/scope.js'
import type { Search } from '../../db/usage/metering.js'
import type { Services } from './services.js'

/** An authenticated request with valid input. */
export type ApiCall<Known, Params, Query, Body> = {
  caller: Known
  requestId: string
  params: Params
  query: Query
  body: Body
}

export type Spec<
  Known extends Caller,
  Params extends Schema,
  Query extends Schema,
  Body extends Schema,
> = InputSpec<Params, Query, Body> & {
  path: string
  /** How callers authenticate, and the credits that a call costs. */
  caller: AuthScheme<Known>
  /** Idempotency-Keys of this endpoint never expire, because it moves money. */
  keepsKeys?: boolean
  /**
   * Every call of a POST is executed, and no response is stored: the response is a secret, and a repeat is harmless. The
   * Idempotency-Key is ignored.
   */
  keepsNothing?: boolean
  /** Scope that a POST requires. Default: write. */
  scope?: Scope
  docs: Docs
}

/** An endpoint as it is mounted and described. */
export type Route = {
  method: 'get' | 'post'
  spec: Spec<Caller, Schema, Schema, Schema>
  /** @param entrance - Another auth scheme and path, for callers of another kind. */
  mount(services: Services, router: Router, entrance?: Entrance<Caller>): void
}

/** A response that is ready to be sent. */
export type Ready = { status: number; text: string; headers?: Record<string, string> }

/** Executes an authenticated call. @param name - Idempotency key of a POST. */
export type Respond = (given: Given, name?: CallName) => Promise<Ready>

/** An endpoint that can also be called without a request of its own, as by a tool. */
export type CallableRoute = Route & {
  purpose: Purpose
  /**
   * Authenticates a call.
   *
   * @param context - With the purpose of this endpoint. Its response receives the headers with the cost.
   * @throws {ServiceError} The rejection of the auth scheme.
   */
  open(context: RequestContext, scheme: AuthScheme, params: unknown): Promise<Respond>
}

/** A second auth scheme and path of an endpoint. Its callers must have the type that the handler expects. */
export type Entrance<Known extends Caller> = { scheme: AuthScheme<Known>; path: string }

/** The row that an endpoint reads first. The admission statement looks it up as well. */
type RowSearch<Params, Row> = { lookup: Lookup<Row>; by(params: Params): string }

type ReadSpec<Known extends Caller, Params extends Schema, Query extends Schema, Row> = Omit<
  Spec<Known, Params, Query, Schema>,
  'body' | 'keepsKeys' | 'keepsNothing' | 'scope'
> & {
  search?: RowSearch<z.infer<Params>, Row> | undefined
  /** Seconds that the response may wait for an event. */
  waits?: ((query: z.infer<Query>) => number) | undefined
}

type ReadHandler<Known, Params, Query, Row> = (
  services: Services,
  call: ApiCall<Known, Params, Query, undefined> & { found: Row; whenGone(): AbortSignal },
) => Answer | Promise<Answer>

/** An endpoint that reads. It is charged at admission and refunded unless the response is 2xx. */
export function readRoute<
  Known extends Caller,
  Params extends Schema,
  Query extends Schema,
  Row = undefined,
>(
  { search, waits, ...read }: ReadSpec<Known, Params, Query, Row>,
  handler: ReadHandler<Known, z.infer<Params>, z.infer<Query>, Row>,
): CallableRoute {
  const spec = { ...read, body: z.undefined() }
  const purpose: Purpose = { route: `GET ${spec.path}`, scope: 'read' }
  const open = openRead({ search, waits, ...spec }, handler)

  return {
    ...{ method: 'get', spec, purpose, open },
    mount(services, router, { scheme, path }: Entrance<Known> = ownOf(spec)) {
      if (scheme.anyOrigin) router.options(path, answerPreflight(services))
      router.get(path, async (request, response) => {
        const context = toRequestContext(services, response, purpose)
        const respond = await open(context, scheme, request.params)
        send(response, await respond(request))
      })
    },
  }
}

/** Authenticates reads and looks up their row in one statement. */
function openRead<Known extends Caller, Params extends Schema, Query extends Schema, Row>(
  { search, waits, ...spec }: ReadSpec<Known, Params, Query, Row> & { body: z.ZodUndefined },
  handler: ReadHandler<Known, z.infer<Params>, z.infer<Query>, Row>,
) {
  return async (
    context: RequestContext,
    scheme: AuthScheme<Known>,
    params: unknown,
  ): Promise<Respond> => {
    const { services, response, requestId } = context
    noteSubject(response, params)
    const known = search && spec.params.safeParse(params).data
    const caller = await authenticate(scheme, context, search && known && seek(search, known))
    return async (given) => {
      try {
        const input = parseInput(spec, given, known)
        const found = search
          ? search.lookup.orThrow(caller.found, search.by(input.params))
          : (undefined as Row)
        if (waits) postponeDeadline(response, 1_000 * waits(input.query))
        const whenGone = () => closeSignal(response)
        const answer = await handler(services, { caller, requestId, found, whenGone, ...input })
        noteSubject(response, answer.body)
        // The deadline has already sent an error, and errors are free.
        if (response.headersSent) await scheme.refund(context)
        const { status, body, headers = {} } = answer
        return { status, text: JSON.stringify(body), headers }
      } catch (error) {
        await scheme.refund(context)
        throw error
      }
    }
  }
}

/** The endpoint's own auth scheme and path. */
export const ownOf = <Known extends Caller>({
  path,
  caller,
}: {
  path: string
  caller: AuthScheme<Known>
}) => ({
  scheme: caller,
  path,
})

const seek = <Params, Row>(
  { lookup, by }: RowSearch<Params, Row>,
  params: Params,
): Search<Row> => ({
  lookup,
  key: by(params),
})

type Writer<Known, Params, Query, Body> = (
  services: Services,
  call: ApiCall<Known, Params, Query, Body>,
  commit: Commit,
) => Promise<Answer>

/**
 * An endpoint that writes. The work in `commit`, the charge and the response that an Idempotency-Key replays are one
 * transaction. A response without a commit is neither charged nor stored.
 */
export function writeRoute<
  Known extends Caller,
  Params extends Schema,
  Query extends Schema,
  Body extends Schema,
>(
  spec: Spec<Known, Params, Query, Body>,
  handler: Writer<Known, z.infer<Params>, z.infer<Query>, z.infer<Body>>,
): CallableRoute {
  const purpose: Purpose = { route: `POST ${spec.path}`, scope: spec.scope ?? 'write' }

  async function open(
    context: RequestContext,
    scheme: AuthScheme<Known>,
    params: unknown,
  ): Promise<Respond> {
    const { services, response, requestId, route } = context
    noteSubject(response, params)
    const caller = await authenticate(scheme, context)
    return async (given, name) => {
      const input = parseInput(spec, given)
      const { accountId } = caller
      const named = { accountId, query: input.query, body: input.body, expires: !spec.keepsKeys }
      const checked = name && toIdempotencyKey(name, named)
      const idempotency = spec.keepsNothing ? undefined : checked
      const call = { db: services.db, accountId, requestId, response, route, idempotency }
      const { status, text, charged, replayed } = await answerOnce(
        { ...call, credits: scheme.credits, gasBudgets: services.gasBudgets },
        (commit) => handler(services, { caller, requestId, ...input }, commit),
      )
      noteSubject(response, JSON.parse(text))
      // The deadline may have struck during the commit.
      if (!response.headersSent) scheme.settle(context, caller, charged)
      return { status, text, headers: replayed ? { 'Idempotent-Replayed': 'true' } : {} }
    }
  }

  return {
    ...{ method: 'post', spec, purpose, open },
    mount(services, router, { scheme, path }: Entrance<Known> = ownOf(spec)) {
      router.post(path, async (request, response) => {
        const respond = await open(
          toRequestContext(services, response, purpose),
          scheme,
          request.params,
        )
        await readJson(spec, request, response)
        send(response, await respond(request, readName(request, spec.path)))
      })
    },
  }
}

export function send(response: Response, { status, text, headers = {} }: Ready): void {
  // The deadline may have sent a response already.
  if (response.headersSent) return
  response.status(status).set(headers).type('json').send(text)
}
