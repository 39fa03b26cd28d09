import { readOperations, type Operation, type Parameter } from './operations.js'
import type { OpenApi } from './openapi.js'

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
 * A Postman collection of the document: a folder a tag, a request an operation. Host and key are variables; the id
 * of each answer is kept for the calls that follow.
 */
export function createPostmanCollection(document: OpenApi) {
  const { info, tags = [] } = document
  const operations = readOperations(document)
  const ids = Object.values(variableOf).map((name) => [name, ''] as const)
  return {
    info: { name: info.title, description: info.description, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: KEEP_IDS.split('\n') } }],
    variable: [...Object.entries(settings), ...ids].map(([key, value]) => ({ key, value })),
    item: tags.map(({ name, description }) => ({
      ...{ name, description },
      item: operations.filter(({ described }) => described.tags[0] === name).map(toItem),
    })),
  }
}

function toItem(operation: Operation) {
  const { method, described, parameters, bodies } = operation
  const request = {
    method: method.toUpperCase(),
    header: parameters.filter((parameter) => parameter.in === 'header').map(toHeader),
    url: toUrl(operation),
    description: described.description,
  }
  const withBody = (value: unknown) => ({ ...request, body: toBody(value) })
  const [first, ...others] = bodies
  return {
    name: described.summary,
    request: first ? withBody(first[1]) : request,
    // What else the operation takes stands beside it as an example.
    response: others.map(([name, value]) => ({ name, originalRequest: withBody(value) })),
  }
}

/** A key of its own for each time that the request is sent. */
const toHeader = ({ name, description = '' }: Parameter) => ({
  ...{ key: name, value: name === 'Idempotency-Key' ? '{{$guid}}' : '', description },
})

function toUrl({ path, isVersioned, parameters }: Operation) {
  const base = isVersioned ? '{{baseUrl}}' : '{{hostUrl}}'
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
