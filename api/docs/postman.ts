import type { OpenApi } from './openapi.js'

type Example = { value: unknown }
type Parameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: { examples?: string[]; enum?: string[]; const?: string }
}
type Operation = {
  summary: string
  description: string
  tags: [string]
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { content: Record<string, { examples?: Record<string, Example> }> }
}
type Call = { method: 'get' | 'post'; path: string; base: string; operation: Operation }

/** @see https://schema.getpostman.com/json/collection/v2.1.0/docs/index.html */
const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** Ids of one answer are what the next call asks for: which variable keeps an id that begins so. */
const variableOf: Record<string, string> = {
  svc_wallet_: 'walletId',
  intent_: 'intentId',
  fund_: 'fundingId',
  wh_: 'webhookId',
  whd_: 'deliveryId',
}

const KEEP_IDS = `const { id } = pm.response.code < 300 ? pm.response.json() : {}
const kept = ${JSON.stringify(variableOf)}
const prefix = Object.keys(kept).find((start) => typeof id === 'string' && id.startsWith(start))
if (prefix) pm.collectionVariables.set(kept[prefix], id)`

/** What a request of a fresh collection fills in. */
const settings: Record<string, string> = {
  hostUrl: 'http://127.0.0.1:3000',
  baseUrl: '{{hostUrl}}/v1',
  apiKey: '',
  userId: 'alice',
}

/**
 * A Postman collection of the document: a folder a tag, a request an operation, in the document's order. Host and
 * key are variables; the id of each answer is kept for the calls that follow.
 */
export function createPostmanCollection({ info, tags = [], paths = {}, components }: OpenApi) {
  const parameters = (components?.parameters ?? {}) as unknown as Record<string, Parameter>
  const resolve = (given: Parameter | { $ref: string }) =>
    '$ref' in given ? (parameters[given.$ref.split('/').at(-1) ?? ''] as Parameter) : given
  const calls = Object.entries(paths).flatMap(([path, item]) => {
    const base = item.servers ? '{{hostUrl}}' : '{{baseUrl}}'
    return (['post', 'get'] as const).flatMap((method) =>
      item[method] ? [{ method, path, base, operation: item[method] as unknown as Operation }] : [],
    )
  })
  const ids = Object.values(variableOf).map((name) => [name, ''] as const)
  return {
    info: { name: info.title, description: info.description, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: KEEP_IDS.split('\n') } }],
    variable: [...Object.entries(settings), ...ids].map(([key, value]) => ({ key, value })),
    item: tags.map(({ name, description }) => ({
      ...{ name, description },
      item: calls
        .filter(({ operation }) => operation.tags[0] === name)
        .map((call) => toItem(call, (call.operation.parameters ?? []).map(resolve))),
    })),
  }
}

function toItem({ method, path, base, operation }: Call, parameters: Parameter[]) {
  const { summary, description, requestBody } = operation
  const bodies = Object.entries(requestBody?.content['application/json']?.examples ?? {})
  const request = {
    method: method.toUpperCase(),
    header: parameters.filter((parameter) => parameter.in === 'header').map(toHeader),
    url: toUrl(base, path, parameters),
    description,
  }
  const withBody = ({ value }: Example) => ({ ...request, body: toBody(value) })
  const [first, ...others] = bodies
  return {
    name: summary,
    request: first ? withBody(first[1]) : request,
    // What else the operation takes stands beside it as an example.
    response: others.map(([name, example]) => ({ name, originalRequest: withBody(example) })),
  }
}

/** A key of its own for each time that the request is sent. */
const toHeader = ({ name, description = '' }: Parameter) => ({
  ...{ key: name, value: name === 'Idempotency-Key' ? '{{$guid}}' : '', description },
})

function toUrl(base: string, path: string, parameters: Parameter[]) {
  const parts = path.slice(1).replace(/\{(\w+)\}/g, ':$1')
  const named = (place: string) => parameters.filter((parameter) => parameter.in === place)
  return {
    raw: `${base}/${parts}`,
    host: [base],
    path: parts.split('/'),
    variable: named('path').map(({ name }) => ({ key: name, value: `{{${name}}}` })),
    query: named('query').map(({ name, description = '', required, schema }) => ({
      ...{ key: name, value: valueOf(schema), description },
      disabled: !required,
    })),
  }
}

const valueOf = ({ examples, enum: values, const: only }: NonNullable<Parameter['schema']> = {}) =>
  String(examples?.[0] ?? only ?? values?.[0] ?? '')

/** The example, with the ids of the reader's own deployment in place of those in it. */
function toBody(value: unknown) {
  const text = JSON.stringify(value, null, 2)
  const raw = Object.entries(variableOf).reduce(
    (body, [prefix, name]) => body.replace(new RegExp(`"${prefix}\\w+"`, 'g'), `"{{${name}}}"`),
    text,
  )
  return { mode: 'raw', raw, options: { raw: { language: 'json' } } }
}
