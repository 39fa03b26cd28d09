import { z } from 'zod'
import type { DocumentedIds } from '../http/docs.js'
import type { Schema } from '../http/input.js'
import type { Route } from '../http/route.js'

type Link = {
  operationId: string
  parameters?: Record<string, string>
  requestBody?: Record<string, unknown>
}

/** The OpenAPI links of a response, by operation: the calls that take one of its ids, in a parameter or in the body. */
export function linksOf(ids: DocumentedIds, routes: readonly Route[]): Record<string, Link> {
  return Object.fromEntries(
    routes.flatMap(({ spec: { params, query, docs } }) => {
      const required = namesOf(params)
      if (required.some((name) => !(name in ids))) return []
      const parameters = [...required, ...namesOf(query)].filter((name) => name in ids)
      const [example = {}] = Object.values(docs.requests ?? {}) as object[]
      const fields = Object.keys(example).filter((name) => name in ids)
      if (parameters.length + fields.length === 0) return []
      const { operationId } = docs
      const link: Link = {
        operationId,
        ...(parameters.length > 0 && { parameters: expressionsOf(ids, parameters) }),
        ...(fields.length > 0 && { requestBody: { ...example, ...expressionsOf(ids, fields) } }),
      }
      return [[operationId, link]]
    }),
  )
}

const namesOf = (schema: Schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])

const expressionsOf = (ids: DocumentedIds, names: string[]) =>
  Object.fromEntries(names.map((name) => [name, `$response.body#/${ids[name]}`]))
