import { readOperations, type DocumentedOperation, type Parameter } from './operations.js'
import type { OpenApi } from './openapi.js'

/** @see https://schema.getpostman.com/json/collection/v2.1.0/docs/index.html */
const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** Collection variable for ids with this prefix. A response fills it for the following requests. */
const variableOf: Record<string, string> = {
  svc_wallet_: 'walletId',
  intent_: 'intentId',
  fund_: 'fundingId',
  wh_: 'webhookId',
  whd_: 'deliveryId',
}

const KEEP_IDS = `const text = pm.response.headers.get('Content-Type') ?? ''
const isJson = pm.response.code < 300 && text.startsWith('application/json')
const { id, userId } = isJson ? pm.response.json() : {}
const kept = ${JSON.stringify(variableOf)}
const prefix = Object.keys(kept).find((start) => typeof id === 'string' && id.startsWith(start))
if (prefix) pm.collectionVariables.set(kept[prefix], id)
if (userId) pm.collectionVariables.set('userId', userId)`

/** Initial values of the collection variables. The host is that of `npm start`. */
const settings: Record<string, string> = {
  hostUrl: 'http://127.0.0.1:3000',
  baseUrl: '{{hostUrl}}/v1',
  apiKey: '',
  userId: 'alice',
  waitSeconds: '30',
}

const HOW = `Set the variable \`apiKey\` to the key that \`npm start\` prints, and \`hostUrl\` for another service. Send the
requests from top to bottom: each response stores its id in the variable that the following requests use.`

/**
 * A Postman collection of the document: one folder per tag, one request per operation, in the order of the first use.
 * Host and key are variables. The id of each response is stored for the following requests.
 */
export function createPostmanCollection(document: OpenApi) {
  const { info, tags = [] } = document
  const operations = readOperations(document)
  const ids = Object.values(variableOf).map((name) => [name, ''] as const)
  return {
    info: { name: info.title, description: `${HOW}\n\n${info.description}`, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{apiKey}}', type: 'string' }] },
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: KEEP_IDS.split('\n') } }],
    variable: [...Object.entries(settings), ...ids].map(([key, value]) => ({ key, value })),
    item: tags.map(({ name, description }) => ({
      ...{ name, description },
      item: operations.filter(({ described }) => described.tags[0] === name).map(toItem),
    })),
  }
}

function toItem(operation: DocumentedOperation) {
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
    // Further example bodies.
    response: others.map(([name, value]) => ({ name, originalRequest: withBody(value) })),
  }
}

/** Idempotency-Key is a new UUID for each request. */
const toHeader = ({ name, description = '' }: Parameter) => ({
  ...{ key: name, value: name === 'Idempotency-Key' ? '{{$guid}}' : '', description },
})

function toUrl({ path, isVersioned, parameters }: DocumentedOperation) {
  const base = isVersioned ? '{{baseUrl}}' : '{{hostUrl}}'
  const parts = path.slice(1).replace(/\{(\w+)\}/g, ':$1')
  const named = (place: string) => parameters.filter((parameter) => parameter.in === place)
  return {
    raw: `${base}/${parts}`,
    host: [base],
    path: parts.split('/'),
    variable: named('path').map(({ name }) => ({ key: name, value: `{{${name}}}` })),
    query: named('query').map(({ name, description = '', required, schema }) => ({
      ...{ key: name, value: name === WAIT ? '{{waitSeconds}}' : valueOf(schema), description },
      disabled: !required && name !== WAIT,
    })),
  }
}

/** Reads that can wait do: the next request needs what they wait for. */
const WAIT = 'wait'

const valueOf = ({ examples, enum: values, const: only }: NonNullable<Parameter['schema']> = {}) =>
  String(examples?.[0] ?? only ?? values?.[0] ?? '')

/** The example body with collection variables in place of its ids and its user. */
function toBody(value: unknown) {
  const text = JSON.stringify(value, null, 2)
  const raw = Object.entries(variableOf).reduce(
    (body, [prefix, name]) => body.replace(new RegExp(`"${prefix}\\w+"`, 'g'), `"{{${name}}}"`),
    text,
  )
  const named = raw.replace(/("userId": )"\w+"/, '$1"{{userId}}"')
  return { mode: 'raw', raw: named, options: { raw: { language: 'json' } } }
}
