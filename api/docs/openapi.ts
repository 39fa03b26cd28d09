import { z } from 'zod'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponsesObject,
} from 'zod-openapi'
import { reasonCatalog } from '../../domain/reasons.js'
import { nameOf } from '../schemas/errors.js'
import { codeSamplesOf } from './codeSamples.js'
import { readOperations } from './operations.js'
import { createErrorResponses, errorsOf, examplesOf, responsesOf } from './responses.js'
import { simplify } from './simplify.js'
import { headers, idempotencyKey } from '../http/headers.js'
import type { Route } from '../http/route.js'
import type { Docs } from '../http/docs.js'

/** Endpoints below `/v1`, and endpoints without a version. */
export type Endpoints = { versioned: readonly Route[]; unversioned: readonly Route[] }
export type OpenApi = ReturnType<typeof createDocument>

/** In the order in which a newcomer needs them. */
const tags: Record<Docs['tag'], string> = {
  Wallets: 'One wallet per end user, on every supported chain.',
  Demo: 'Test money.',
  Balances: 'Token balances of wallets.',
  Yields: 'Lending rates.',
  Intents: 'Operations that the service plans and executes: lend, withdraw, bridge.',
  Positions: 'Lending positions of wallets.',
  Events: 'Events of intents and of the account, as a list or a stream.',
  Webhooks: 'Events, sent to your endpoints.',
  Account: 'Credits of the account.',
  Operation: 'For operators of the service.',
}

const INTRODUCTION = `Create one multi-chain wallet per end user, read its balances and lending yields, and submit
intents that the service plans and executes.

- **Authentication**: every call needs \`Authorization: Bearer svc_sk_…\`. Keep keys on servers.
- **Retries**: send an \`Idempotency-Key\` with every POST. A repeated request with the same key and body returns
  the stored response and is not charged twice.
- **Errors**: \`{ error, message, details }\`, each explained at \`/docs/errors\`. An unknown path returns
  404 \`NOT_FOUND\`. An unsupported method returns 405 \`METHOD_NOT_ALLOWED\` with the header \`Allow\`.
- **Bodies**: JSON in UTF-8, at most 16 kB. Invalid bytes, a field that occurs twice, and a number with more digits than
  a double keeps are rejected with 400 \`INVALID_REQUEST\`.
- **Credits**: only 2xx responses are charged. A call with the reason \`outcome_unknown\` is charged if it was executed.
- **Compatibility**: within v1 responses may gain fields, and errors may gain codes and reasons. Ignore unknown fields.
  Use the HTTP status when a code is unknown.`

/** Codes of responses to unknown paths and unsupported methods. */
export const onAnyPath = ['NOT_FOUND', 'METHOD_NOT_ALLOWED'] as const

/** The OpenAPI 3.1 document of the endpoints, from the schemas that validate their requests. */
export function createOpenApi({ versioned, unversioned }: Endpoints): OpenApi {
  const responses = createErrorResponses()
  const hosted = { servers: [{ url: '/', description: 'This deployment, without the version' }] }
  const used = [...versioned, ...unversioned]
  const describe = (route: Route) => describeRoute(route, responsesOf(route, responses, used))
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Steward',
        version: '1',
        description: INTRODUCTION,
        contact: { name: 'The operator of this deployment' },
        license: { name: 'Apache-2.0' },
      },
      servers: [{ url: '/v1', description: 'This deployment' }],
      security: [{ apiKey: [] }],
      tags: Object.entries(tags)
        .filter(([name]) => used.some(({ spec }) => spec.docs.tag === name))
        .map(([name, description]) => ({ name, description })),
      paths: {
        ...describePaths(versioned, describe, {}),
        ...describePaths(unversioned, describe, hosted),
      },
      components: {
        schemas: allErrors(used),
        headers,
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'svc_sk_ and 64 hexadecimal characters',
            description: 'An API key. `npm run account -- create` creates one.',
          },
        },
      },
    },
    { override: simplify },
  )
  for (const operation of readOperations(document)) {
    operation.described['x-codeSamples'] = codeSamplesOf(operation)
  }
  return document
}

/** `/wallets/{userId}` for `/wallets/:userId`. */
export const toTemplate = (path: string) => path.replace(/:(\w+)/g, '{$1}')

function describePaths(
  routes: readonly Route[],
  describe: (route: Route) => ZodOpenApiOperationObject,
  extras: { servers?: { url: string; description: string }[] },
): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {}
  for (const route of routes) {
    const path = toTemplate(route.spec.path)
    paths[path] = { ...extras, ...paths[path], [route.method]: describe(route) }
  }
  return paths
}

function describeRoute(
  route: Route,
  responses: ZodOpenApiResponsesObject,
): ZodOpenApiOperationObject {
  const { method, spec } = route
  const { operationId, tag, summary, description, requests, probe } = spec.docs
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
    ...(probe ? { security: [{}, { apiKey: [] }] } : {}),
    responses,
  }
}

const hasFields = (schema: z.ZodObject) => Object.keys(schema.shape).length > 0

const priceOf = (credits: number) =>
  credits === 0 ? 'Free of charge.' : `Costs ${credits} ${credits === 1 ? 'credit' : 'credits'}.`

/** All errors, codes and reasons as components, for generated clients. */
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
    ErrorCode: enumOf('The `error` of any response.', [...codes, ...onAnyPath]),
    ErrorReason: enumOf('The `details.reason` of any error.', Object.keys(reasonCatalog)),
  }
}

/** The published text of a document. It changes only when an endpoint changes. */
export const toJson = (document: object) => `${JSON.stringify(document, null, 2)}\n`
