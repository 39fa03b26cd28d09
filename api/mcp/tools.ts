import { z } from 'zod'
import { apiKey } from '../http/auth/apiKey.js'
import { previewedFields, anyRequestFields } from '../schemas/intentRequest.js'
import { intentFilterQuery, intentIdInput, walletIdInput } from '../schemas/parameters.js'
import { createRoute, previewRoute } from './intents.js'
import { explainRoute } from './failure.js'
import type { Admission } from '../../db/usage/metering.js'
import type { Endpoints } from '../docs/openapi.js'
import type { CallName } from '../http/commit.js'
import type { AuthScheme } from '../http/auth/authScheme.js'
import type { Given } from '../http/input.js'
import type { CallableRoute, Route } from '../http/route.js'

type Arguments = Record<string, unknown>
/** JSON Schema of an object. */
type ObjectSchema = { type: 'object'; [key: string]: unknown }

/** An endpoint as a tool of a language model. */
export type Tool = {
  name: string
  title: string
  description: string
  inputSchema: ObjectSchema
  route: CallableRoute
  /** Auth scheme: tools require an API key. */
  scheme: AuthScheme<Admission>
  /** False for tools that write. Those are idempotent. */
  readOnly: boolean
  /** Idempotency key of a call. */
  nameOf?(args: Arguments): CallName | undefined
}

/** All tools, in the order of `tools/list`. */
export function createTools({ versioned }: Endpoints): Tool[] {
  const endpoint = (operationId: string) => findCallable(versioned, operationId)
  return [
    reading('get_yields', endpoint('getYields')),
    reading('get_balances', endpoint('getBalances')),
    reading('get_positions', endpoint('getPositions')),
    { ...toTool('preview_intent', previewRoute, anyRequestFields), readOnly: true },
    {
      ...toTool('create_intent', createRoute, previewedFields),
      readOnly: false,
      nameOf: ({ previewId }) =>
        typeof previewId === 'string'
          ? { endpoint: 'mcp create_intent', key: previewId }
          : undefined,
    },
    {
      ...reading('get_intent', endpoint('getIntent')),
      description: `Returns the state of an intent. With \`wait\` it returns at the next change, or after these seconds. ${costOf(endpoint('getIntent'))}`,
    },
    {
      ...reading('list_intents', endpoint('listIntents')),
      description: `Lists intents as stored, newest first. \`get_intent\` returns the latest state of a running intent. ${costOf(endpoint('listIntents'))}`,
    },
    reading('explain_failure', explainRoute),
  ]
}

function findCallable(routes: readonly Route[], operationId: string): CallableRoute {
  const route = routes.find(({ spec }) => spec.docs.operationId === operationId)
  if (!route || !isCallable(route)) throw new Error(`There is no endpoint ${operationId}.`)
  return route
}

const isCallable = (route: Route): route is CallableRoute => 'open' in route

/** Query parameters that tools leave out. */
const forOthers = new Set(['token', 'version'])

function reading(name: string, route: CallableRoute): Tool {
  const { params, query } = route.spec
  const fields = Object.entries({ ...shapeOf(params), ...shapeOf(query) })
  const shown = fields.filter(([field]) => !forOthers.has(field)).map(inWordsOfTools)
  return { ...toTool(name, route, Object.fromEntries(shown)), readOnly: true }
}

/** Descriptions for tools, where those of the published document name endpoints and queries. */
const descriptions = new Map<unknown, string>([
  [walletIdInput, 'Id of a wallet. It begins with svc_wallet_.'],
  [intentIdInput, 'Id of an intent, as `create_intent` and `list_intents` return it.'],
  [intentFilterQuery.status, 'Only intents with one of these statuses.'],
])

function inWordsOfTools([name, field]: [string, z.core.$ZodType]): [string, z.core.$ZodType] {
  const description = descriptions.get(field)
  return [name, description ? (field as z.ZodType).meta({ description }) : field]
}

/** A sentence with the price of a tool. */
function costOf({ spec }: Route): string {
  const { credits } = spec.caller
  return `Costs ${credits === 1 ? '1 credit' : `${credits} credits`}.`
}

function toTool(name: string, route: CallableRoute, fields: z.ZodRawShape): Omit<Tool, 'readOnly'> {
  const { docs, caller } = route.spec
  const { credits } = caller
  return {
    ...{ name, route, scheme: apiKey({ credits }), title: docs.summary },
    description: `${docs.description ?? docs.summary} ${costOf(route)}`,
    inputSchema: toJsonSchema(z.strictObject(fields)),
  }
}

const shapeOf = (schema: z.ZodType) => (schema instanceof z.ZodObject ? schema.shape : {})

/** The schema of the published document, with references inlined: tools have no shared components. */
function toJsonSchema(schema: z.ZodObject): ObjectSchema {
  const json = z.toJSONSchema(schema, {
    ...{ io: 'input', unrepresentable: 'any' },
    override({ zodSchema, jsonSchema }) {
      const own = z.globalRegistry.get(zodSchema)?.override
      for (const key of ['override', 'id', 'param']) delete jsonSchema[key]
      if (typeof own !== 'object' || own === null) return
      for (const key of ['enum', 'pattern']) delete jsonSchema[key]
      Object.assign(jsonSchema, own)
    },
  })
  return { ...inline(json), type: 'object' }
}

/** Replaces each `$ref` by its definition. */
function inline({ $defs = {}, ...json }: Record<string, unknown>): Record<string, unknown> {
  const definitions = $defs as Record<string, object>
  const text = JSON.stringify(json, (_name, value: unknown) => {
    const { $ref, ...own } = (value ?? {}) as { $ref?: string }
    return $ref === undefined ? value : { ...definitions[$ref.replace('#/$defs/', '')], ...own }
  })
  return JSON.parse(text) as Record<string, unknown>
}

/** Arguments of a tool as input of its endpoint. Query values become text. */
export function toGiven({ method, spec }: Route, args: Arguments): Given {
  const inPath = new Set(Object.keys(shapeOf(spec.params)))
  const entries = Object.entries(args)
  const params = Object.fromEntries(entries.filter(([name]) => inPath.has(name)))
  const others = entries.filter(([name]) => !inPath.has(name))
  if (method === 'post') return { params, query: {}, body: Object.fromEntries(others) }
  const query = others.map(([name, value]) => [name, toQuery(value)] as const)
  return { params, query: Object.fromEntries(query), body: undefined }
}

const toQuery = (value: unknown) =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
