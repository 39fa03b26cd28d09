import { z } from 'zod'
import { errorCatalog, type ErrorCode } from '../../domain/errors.js'
import { headers } from '../http/headers.js'
import { errorExample, errorSchema, nameOf } from '../schemas/errors.js'
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { linksOf } from './links.js'
import type { Docs, DocumentedResponse } from '../http/docs.js'
import type { Route } from '../http/route.js'

/** Codes that every endpoint may respond with. */
const common: ErrorCode[] = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
]

/** All codes that the endpoint may respond with. */
export function errorsOf({ spec }: Route): ErrorCode[] {
  const paid: ErrorCode[] = spec.caller.credits > 0 ? ['INSUFFICIENT_CREDITS'] : []
  return [...new Set([...common, ...paid, ...spec.docs.errors])]
}

/** The response for a set of codes. */
export type ErrorResponses = (codes: ErrorCode[]) => ZodOpenApiResponseObject

/** All responses of the endpoint, by status. @param all - The endpoints that a response may link to. */
export function responsesOf(
  route: Route,
  errors: ErrorResponses,
  all: readonly Route[],
): ZodOpenApiResponsesObject {
  const { responses, stream, probe } = route.spec.docs
  const others = all.filter((other) => other !== route)
  const succeeded = (reply: DocumentedResponse) => ({
    ...success(route.method, reply),
    ...(reply.ids && { links: linksOf(reply.ids, others) }),
  })
  const documented: Record<string, ZodOpenApiResponseObject> = {
    ...Object.fromEntries(
      Object.entries(responses).map(([status, reply]) => [status, succeeded(reply)]),
    ),
    ...(stream ? streamed(stream, responses[200]) : {}),
    ...Object.fromEntries(
      byStatus(errorsOf(route)).map(([status, codes]) => [status, errors(codes)]),
    ),
  }
  return probe ? { ...documented, ...probed(probe, documented) } : documented
}

/** The responses of a probe: a call without a key has another body, and no headers with the limits of an account. */
function probed(
  { schema, example }: NonNullable<Docs['probe']>,
  documented: Record<string, ZodOpenApiResponseObject>,
): ZodOpenApiResponsesObject {
  const orProbe = ({ description, headers: known = {}, content }: ZodOpenApiResponseObject) => {
    const { schema: own, examples } = content?.['application/json'] as Json
    return {
      description,
      headers: { ...optional(Object.keys(known)), ...requestIdHeader },
      content: {
        'application/json': {
          schema: z.union([own, schema]),
          examples: { ...examples, probe: { value: example } },
        },
      },
    }
  }
  const { 200: ready, 503: notReady } = documented
  if (!ready || !notReady) throw new Error('A probe responds with status 200 or 503.')
  return { 200: orProbe(ready), 503: orProbe(notReady) }
}

type Json = { schema: z.ZodType; examples: Record<string, { value: unknown }> }

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } } as const

/** The headers, where a response may lack them. */
const optional = (names: string[]) =>
  Object.fromEntries(
    names.map((name) => [name, { ...headers[name as keyof typeof headers], required: false }]),
  )

function success(method: Route['method'], reply: DocumentedResponse): ZodOpenApiResponseObject {
  return {
    description: reply.description,
    headers: answerHeaders(method === 'post' ? ['Idempotent-Replayed'] : []),
    content: { 'application/json': { schema: reply.schema, ...examplesOf(reply.examples) } },
  }
}

/** The server-sent events of an endpoint, in addition to its JSON response. A stream without one responds 204 when it has ended. */
function streamed(
  { description, example }: NonNullable<Docs['stream']>,
  reply?: DocumentedResponse,
) {
  const list = reply && success('get', reply)
  // OpenAPI 3.1 has no schema for a stream. Tools validate each event by this one.
  const schema = z
    .unknown()
    .meta({ description: 'Server-sent events. `data` is an event as JSON.' })
  const events = { schema, examples: { events: { value: example } } }
  return {
    200: {
      description: reply?.description ?? description,
      headers: answerHeaders([]),
      content: { ...list?.content, 'text/event-stream': events },
    },
    ...(reply
      ? {}
      : { 204: { description: 'There are no more events.', headers: answerHeaders([]) } }),
  }
}

/** Examples by name, in the shape of the document. */
export function examplesOf(examples: Record<string, unknown> | undefined) {
  if (!examples) return {}
  const entries = Object.entries(examples).map(([name, value]) => [name, { value }])
  return { examples: Object.fromEntries(entries) as Record<string, { value: unknown }> }
}

/** References to the headers of every response and to `more`. */
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

/** Creates error responses as shared components: one per set of codes. */
export function createErrorResponses(): ErrorResponses {
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

/** The body of a response with one of the codes. */
export function errorUnion(codes: ErrorCode[]): z.ZodType {
  const [first, ...rest] = codes.map(errorSchema)
  if (!first) throw new Error('No code.')
  return rest.length === 0 ? first : z.discriminatedUnion('error', [first, ...rest])
}
