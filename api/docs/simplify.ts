import { z } from 'zod'
import type { CreateDocumentOptions } from 'zod-openapi'

type Override = NonNullable<CreateDocumentOptions['override']>
type JsonSchema = Parameters<Override>[0]['jsonSchema']

/** What zod writes for its own sake, and a reader of the document or a generator of clients stumbles over. */
export const simplify: Override = ({ jsonSchema, zodSchema, io, path }) => {
  const own = z.globalRegistry.get(zodSchema)?.override
  // A schema that says itself what it looks like, because it is read from the text of a query.
  if (typeof own === 'object') for (const key of ['enum', 'pattern']) delete jsonSchema[key]
  // A client must not break when an answer gains a field. What is free-form stays told.
  if (io === 'output' && jsonSchema.additionalProperties === false) {
    delete jsonSchema.additionalProperties
  }
  // The library's own collection of all schemas has an empty path.
  if (io === 'input' && zodSchema instanceof z.ZodObject && path.length > 0) {
    tellDefaults(jsonSchema, zodSchema.shape)
  }
  dropImplied(jsonSchema)
}

/** Leaves out what follows from the rest, and what every JSON number and name is anyway. */
function dropImplied(jsonSchema: JsonSchema): void {
  delete jsonSchema.propertyNames
  if (jsonSchema.format) delete jsonSchema.pattern
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

/**
 * Says in words what a field of a body is when it is absent: by the keyword `default` generators take the field for
 * one that is always there, and have callers send it.
 */
function tellDefaults({ properties = {} }: JsonSchema, shape: Record<string, unknown>): void {
  for (const [name, field] of Object.entries(properties)) {
    if (typeof field !== 'object' || !('default' in field)) continue
    const { default: value } = field
    const said = typeof value === 'string' ? value : JSON.stringify(value)
    field.description = `${descriptionOf(shape[name])} \`${said}\` when absent.`.trim()
    delete field.default
  }
}

/** That of the field, or of what it is when it is not absent. */
function descriptionOf(field: unknown): string {
  if (!(field instanceof z.ZodType)) return ''
  const inner = field instanceof z.ZodDefault ? field.unwrap() : undefined
  return field.description ?? descriptionOf(inner)
}
