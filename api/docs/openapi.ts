import { z } from 'zod'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi'
import { errorCatalog, type ErrorCode } from '../../domain/errors.js'
import { reasonCatalog } from '../../domain/reasons.js'
import { errorExample, errorSchema, nameOf } from '../schemas/errors.js'
import { simplify } from './simplify.js'
import { headers, idempotencyKey } from '../http/headers.js'
import type { Docs, Reply, Route } from '../http/route.js'

/** Endpoints below the version's path, and those beside it. */
export type Endpoints = { versioned: readonly Route[]; unversioned: readonly Route[] }
export type OpenApi = ReturnType<typeof createDocument>

const tags: Record<Docs['tag'], string> = {
  Wallets: 'One wallet per end user, on every supported chain.',
  Balances: 'What a wallet holds.',
  Yields: 'What lending pays.',
  Intents: 'Operations that the service plans and executes: lend, withdraw, bridge.',
  Events: 'What happens to intents, and in the account beside them, as it happens.',
  Webhooks: 'Events, sent to endpoints of yours.',
  Positions: 'What a wallet has lent.',
  Demo: 'Test money.',
  Account: 'Credits of the account.',
  Operation: 'For those who run the service.',
}

const INTRODUCTION = `Create one multi-chain wallet per end user, read its balances and lending yields, and submit
intents that the service plans and executes.

- **Authentication**: every call needs \`Authorization: Bearer svc_sk_…\`. Keep keys on servers.
- **Retries**: send an \`Idempotency-Key\` with every POST. The same key and body get the stored answer again, and
  are not charged twice.
- **Errors**: \`{ error, message, details }\`, each explained at \`/docs/errors\`. A path that does not exist answers
  404 \`NOT_FOUND\`; a method that a path does not support 405 \`METHOD_NOT_ALLOWED\`, with the header \`Allow\`.
- **Credits**: only 2xx answers are charged.
- **Compatibility**: within v1 answers may gain fields, and errors may gain codes and reasons. Ignore fields that you
  do not know, and go by the HTTP status where you do not know a code.`

/** What a path or a method without an endpoint is answered with. */
export const onAnyPath = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'] as const

/** What every endpoint may answer with. */
const common: ErrorCode[] = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
]

/** The OpenAPI 3.1 document of the endpoints, from the schemas that check their requests. */
export function createOpenApi({ versioned, unversioned }: Endpoints): OpenApi {
  const responses = createErrorResponses()
  const hosted = { servers: [{ url: '/', description: 'This deployment, without the version' }] }
  const used = [...versioned, ...unversioned]
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Steward',
        version: '1',
        description: INTRODUCTION,
        license: { name: 'Apache-2.0' },
      },
      servers: [{ url: '/v1', description: 'This deployment' }],
      security: [{ apiKey: [] }],
      tags: Object.entries(tags)
        .filter(([name]) => used.some(({ spec }) => spec.docs.tag === name))
        .map(([name, description]) => ({ name, description })),
      paths: {
        ...describePaths(versioned, responses, {}),
        ...describePaths(unversioned, responses, hosted),
      },
      components: {
        schemas: allErrors(used),
        headers,
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'svc_sk_ and 64 hexadecimal characters',
            description: 'An API key. `npm run account -- create` makes one.',
          },
        },
      },
    },
    { override: simplify },
  )
}

/** `/wallets/{userId}` for `/wallets/:userId`. */
export const toTemplate = (path: string) => path.replace(/:(\w+)/g, '{$1}')

/** All codes that the endpoint may answer with. */
export function errorsOf({ spec }: Route): ErrorCode[] {
  const paid: ErrorCode[] = spec.caller.credits > 0 ? ['INSUFFICIENT_CREDITS'] : []
  return [...new Set([...common, ...paid, ...spec.docs.errors])]
}

type ErrorResponses = (codes: ErrorCode[]) => ZodOpenApiResponseObject

function describePaths(
  routes: readonly Route[],
  responses: ErrorResponses,
  extras: { servers?: { url: string; description: string }[] },
): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {}
  for (const route of routes) {
    const path = toTemplate(route.spec.path)
    paths[path] = { ...extras, ...paths[path], [route.method]: describe(route, responses) }
  }
  return paths
}

function describe(route: Route, errors: ErrorResponses): ZodOpenApiOperationObject {
  const { method, spec } = route
  const { operationId, tag, summary, description, requests, responses, stream } = spec.docs
  const { params, query, caller } = spec
  return {
    operationId,
    tags: [tag],
    summary,
    description: [description, priceOf(caller.credits)].filter(Boolean).join('\n\n'),
    requestParams: {
      ...(params instanceof z.ZodObject && hasFields(params) ? { path: params } : {}),
      ...(query instanceof z.ZodObject && hasFields(query) ? { query } : {}),
      ...(method === 'post' ? { header: z.object({ 'Idempotency-Key': idempotencyKey }) } : {}),
    },
    ...(method === 'post'
      ? {
          requestBody: {
            required: !spec.body.safeParse(undefined).success,
            content: {
              'application/json': { schema: spec.body, ...examplesOf(requests) },
            },
          },
        }
      : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, reply]) => [status, success(method, reply)]),
      ),
      ...(stream ? streamed(stream, responses[200]) : {}),
      ...Object.fromEntries(
        byStatus(errorsOf(route)).map(([status, codes]) => [status, errors(codes)]),
      ),
    },
  }
}

const hasFields = (schema: z.ZodObject) => Object.keys(schema.shape).length > 0

const priceOf = (credits: number) =>
  credits === 0 ? 'Free of charge.' : `Costs ${credits} ${credits === 1 ? 'credit' : 'credits'}.`

function success(method: Route['method'], reply: Reply): ZodOpenApiResponseObject {
  return {
    description: reply.description,
    headers: answerHeaders(method === 'post' ? ['Idempotent-Replayed'] : []),
    content: { 'application/json': { schema: reply.schema, ...examplesOf(reply.examples) } },
  }
}

/** Server-sent events, beside what the endpoint answers to others; nothing when they have ended. */
function streamed({ description, example }: NonNullable<Docs['stream']>, reply?: Reply) {
  const list = reply && success('get', reply)
  const events = { schema: z.string(), examples: { events: { value: example } } }
  return {
    200: {
      description: reply?.description ?? description,
      headers: answerHeaders([]),
      content: { ...list?.content, 'text/event-stream': events },
    },
    ...(reply
      ? {}
      : { 204: { description: 'All of it was told already.', headers: answerHeaders([]) } }),
  }
}

function examplesOf(examples: Record<string, unknown> | undefined) {
  if (!examples) return {}
  const entries = Object.entries(examples).map(([name, value]) => [name, { value }])
  return { examples: Object.fromEntries(entries) as Record<string, { value: unknown }> }
}

/** References to the headers of every answer and the named ones. */
function answerHeaders(more: (keyof typeof headers)[]) {
  const always: (keyof typeof headers)[] = [
    'X-Request-Id',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'X-Credits-Charged',
    'X-Credits-Remaining',
  ]
  const names = [...always, ...more]
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` as const }]),
  )
}

function byStatus(codes: ErrorCode[]): [status: number, codes: ErrorCode[]][] {
  const groups = new Map<number, ErrorCode[]>()
  for (const code of codes) {
    const { status } = errorCatalog[code]
    groups.set(status, [...(groups.get(status) ?? []), code])
  }
  return [...groups].sort(([a], [b]) => a - b)
}

const headersOf: Partial<Record<number, (keyof typeof headers)[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** Error responses as shared components: one per set of codes. */
function createErrorResponses(): ErrorResponses {
  const known = new Map<string, ZodOpenApiResponseObject>()
  return (codes) => {
    const [first] = codes as [ErrorCode]
    const id = codes.map(nameOf).join('Or')
    const { status } = errorCatalog[first]
    const response = known.get(id) ?? {
      id,
      description: codes.map((code) => `\`${code}\`: ${errorCatalog[code].hint}`).join(' '),
      headers: answerHeaders(headersOf[status] ?? []),
      content: {
        'application/json': {
          schema: errorUnion(codes),
          ...examplesOf(Object.fromEntries(codes.map((code) => [code, errorExample(code)]))),
        },
      },
    }
    known.set(id, response)
    return response
  }
}

/** Every error, every code and every reason: no endpoint answers with all of them, but clients name them. */
function allErrors(routes: readonly Route[]) {
  const codes = [...new Set(routes.flatMap(errorsOf))]
  const bodies = codes.map((code) => ({
    $ref: `#/components/schemas/${nameOf(code)}Error` as const,
  }))
  const enumOf = (description: string, names: readonly string[]) => ({
    type: 'string' as const,
    enum: [...names],
    description,
  })
  return {
    ErrorBody: { oneOf: bodies, description: 'The body of any error of an endpoint.' },
    ErrorCode: enumOf('The `error` of any answer.', [...codes, ...onAnyPath]),
    ErrorReason: enumOf('The `details.reason` of any error.', Object.keys(reasonCatalog)),
  }
}

/** The body of an answer with one of the codes. */
export function errorUnion(codes: ErrorCode[]): z.ZodType {
  const [first, ...rest] = codes.map(errorSchema)
  if (!first) throw new Error('No code.')
  return rest.length === 0 ? first : z.discriminatedUnion('error', [first, ...rest])
}

/** The document as it is published: stable, so that a change of it is a change of an endpoint. */
export const toJson = (document: OpenApi) => `${JSON.stringify(document, null, 2)}\n`
