import express, { type Request, type Response, type Router } from 'express'
import { z } from 'zod'
import { fingerprintOf } from '../../db/tenants/idempotency.js'
import { invalidRequest, type ErrorCode } from '../../domain/errors.js'
import { admitRequest, refundRequest, setCredits, type Tariff } from './admission.js'
import { answerOnce, readIdempotencyKey, type Answer, type Sent } from './commit.js'
import { parse } from './parse.js'
import type { Db } from '../../db/connection/connect.js'
import type { Admission, Search } from '../../db/tenants/metering.js'
import type { Lookup } from '../../db/connection/scope.js'
import type { Services } from './services.js'

export type Call<Params, Query, Body> = {
  account: Admission
  requestId: string
  params: Params
  query: Query
  body: Body
}

/** Does work in one transaction together with the call's charge and the answer kept for replays. */
export type Commit = (work: (trx: Db) => Promise<Answer>) => Promise<Answer>

type Schema = z.ZodType

/** An answer that ends well, as the document shows it. Each example has a name. */
export type Reply = {
  description: string
  schema: Schema
  examples: Record<string, unknown>
}

/** What the published document says of an endpoint, besides what it takes. */
export type Docs = {
  operationId: string
  tag: 'Wallets' | 'Balances' | 'Yields' | 'Intents' | 'Positions' | 'Demo' | 'Account'
  summary: string
  description?: string
  /** Bodies to send, by name. */
  requests?: Record<string, unknown>
  responses: { 200?: Reply; 201?: Reply }
  /** Besides those that every endpoint may answer with. */
  errors: ErrorCode[]
}

export type Spec<Params extends Schema, Query extends Schema, Body extends Schema> = {
  path: string
  credits: number
  /** Gives credits of another call back, so that what is left is not told. */
  refunds?: boolean
  /** Its Idempotency-Keys never expire: it moves money, which must not move twice. */
  keepsKeys?: boolean
  params: Params
  query: Query
  body: Body
  docs: Docs
}

/** An endpoint as it is mounted and described. */
export type Route = {
  method: 'get' | 'post'
  spec: Spec<Schema, Schema, Schema>
  mount(services: Services, router: Router): void
}

/** The row that an endpoint reads first; its admission finds it in the same statement. */
type RowSearch<Params, Row> = { lookup: Lookup<Row>; by(params: Params): string }

type ReadSpec<Params extends Schema, Query extends Schema, Row> = Omit<
  Spec<Params, Query, Schema>,
  'body'
> & { search?: RowSearch<z.infer<Params>, Row> }

type Reader<Params, Query, Row> = (
  services: Services,
  call: Call<Params, Query, undefined> & { found: Row },
) => Answer | Promise<Answer>

/** An endpoint that reads. It is charged when it is admitted, and gets that back unless it ends in 2xx. */
export function readRoute<Params extends Schema, Query extends Schema, Row = undefined>(
  { search, ...spec }: ReadSpec<Params, Query, Row>,
  handler: Reader<z.infer<Params>, z.infer<Query>, Row>,
): Route {
  const tariff: Tariff = { name: `GET ${spec.path}`, credits: spec.credits, scope: 'read' }
  return {
    method: 'get',
    spec: { ...spec, body: z.undefined() },
    mount(services, router) {
      router.get(spec.path, async (request, response) => {
        const sought = search && seek(search, spec.params, request)
        const account = await admitRequest(services, tariff, request, response, sought)
        try {
          const input = inputOf(account, request, response, spec)
          const found = search
            ? search.lookup.orThrow(account.found, search.by(input.params))
            : (undefined as Row)
          const answer = await handler(services, { ...input, found, body: undefined })
          // The time limit has answered for us, with an error: those are free.
          if (response.headersSent) await refundRequest(services, response)
          else send(response, { status: answer.status, text: JSON.stringify(answer.body) })
        } catch (error) {
          if (spec.credits > 0) await refundRequest(services, response)
          throw error
        }
      })
    },
  }
}

/** Nothing, when the path is not readable: its error comes after the admission. */
function seek<Params extends Schema, Row>(
  { lookup, by }: RowSearch<z.infer<Params>, Row>,
  schema: Params,
  { params }: Request,
): Search<Row> | undefined {
  const parsed = schema.safeParse(params)
  return parsed.success ? { lookup, key: by(parsed.data) } : undefined
}

type Writer<Params, Query, Body> = (
  services: Services,
  call: Call<Params, Query, Body>,
  commit: Commit,
) => Promise<Answer>

/**
 * An endpoint that creates. What it does in `commit`, its charge and the answer that an Idempotency-Key
 * replays are one transaction. An answer without a commit is neither charged nor kept.
 */
export function writeRoute<Params extends Schema, Query extends Schema, Body extends Schema>(
  spec: Spec<Params, Query, Body>,
  handler: Writer<z.infer<Params>, z.infer<Query>, z.infer<Body>>,
): Route {
  const tariff: Tariff = { name: `POST ${spec.path}`, credits: spec.credits, scope: 'write' }
  return {
    method: 'post',
    spec,
    mount(services, router) {
      router.post(spec.path, async (request, response) => {
        const account = await admitRequest(services, tariff, request, response)
        if (!isOptional(spec.body) || hasBody(request)) await readJson(request, response)
        const input = {
          ...inputOf(account, request, response, spec),
          body: parse(spec.body, request.body),
        }
        const key = readIdempotencyKey(request.get('idempotency-key'))
        const idempotency = key && {
          accountId: account.accountId,
          endpoint: request.originalUrl.split('?')[0] ?? spec.path,
          key,
          fingerprint: fingerprintOf({ body: input.body, query: input.query }),
          expires: !spec.keepsKeys,
        }
        const { requestId } = input
        const { db } = services
        let committed = false
        const sent = await answerOnce(
          { db, admission: account, requestId, tariff, idempotency: idempotency || undefined },
          (commit) =>
            handler(services, input, async (work) => {
              const answer = await commit(work)
              committed = true
              return answer
            }),
        )
        // An answer that came too late has been given already, with its headers.
        if (response.headersSent) return
        const charged = committed ? sent.charged : 0
        setCredits(response, charged, account.balance - BigInt(charged))
        if (spec.refunds) response.removeHeader('X-Credits-Remaining')
        if (sent.replayed) response.set('Idempotent-Replayed', 'true')
        send(response, sent)
      })
    },
  }
}

function inputOf<Params extends Schema, Query extends Schema>(
  account: Admission,
  request: Request,
  response: Response,
  spec: { params: Params; query: Query },
) {
  return {
    account,
    requestId: String(response.locals.requestId),
    params: parse(spec.params, request.params),
    query: parse(spec.query, request.query),
  }
}

/** Straight to node: text and headers go out in one piece, where Express would take two. */
function send(response: Response, { status, text }: Pick<Sent, 'status' | 'text'>): void {
  // An answer that came too late has been given already.
  if (response.headersSent) return
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.end(text)
}

const parseJson = express.json({ limit: '16kb' })

async function readJson(request: Request, response: Response): Promise<void> {
  if (!request.is('application/json')) {
    throw invalidRequest('', 'Send the body as `Content-Type: application/json`.')
  }
  await new Promise<void>((resolve, reject) => {
    parseJson(request, response, (error?: Error) => {
      if (error === undefined) resolve()
      // The error handler knows the parser's errors by their type, whatever their class.
      else reject(error)
    })
  })
}

/** The input of an endpoint that takes none of a kind. */
export const noParams = z.object({})
export const noQuery = z.strictObject({})
/** Absent or an empty object. */
export const noBody = z.strictObject({}).default({})

const isOptional = (body: Schema) => body === noBody

const hasBody = (request: Request) =>
  request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0
