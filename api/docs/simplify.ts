import { z } from 'zod'
import type { CreateDocumentOptions } from 'zod-openapi'

type Override = NonNullable<CreateDocumentOptions['override']>
type JsonSchema = Parameters<Override>[0]['jsonSchema']

/** Removes details of zod's output that hinder readers of the document and generators of clients. */
export const simplify: Override = ({ jsonSchema, zodSchema, io, path }) => {
  const own = z.globalRegistry.get(zodSchema)?.override
  // Query parameters are parsed from text. Their schema declares the documented form.
  if (typeof own === 'object') for (const key of ['enum', 'pattern']) delete jsonSchema[key]
  // A client must not break when a response gains a field.
  if (io === 'output' && jsonSchema.additionalProperties === false) {
    delete jsonSchema.additionalProperties
  }
  // The path is empty for the library's own collection of all schemas.
  if (io === 'input' && zodSchema instanceof z.ZodObject && path.length > 0) {
    describeDefaults(jsonSchema, zodSchema.shape)
  }
  dropImplied(jsonSchema)
}

/** Removes keywords that other keywords imply, and limits of every JSON number. */
function dropImplied(jsonSchema: JsonSchema): void {
  delete jsonSchema.propertyNames
  if (jsonSchema.format) delete jsonSchema.pattern
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}

/**
 * Describes the default of a body field in words. Generators treat a field with the keyword `default` as always
 * present, and require callers to send it.
 */
function describeDefaults({ properties = {} }: JsonSchema, shape: Record<string, unknown>): void {
  for (const [name, field] of Object.entries(properties)) {
    if (typeof field !== 'object' || !('default' in field)) continue
    const { default: value } = field
    const shown = typeof value === 'string' ? value : JSON.stringify(value)
    field.description = `${descriptionOf(shape[name])} \`${shown}\` when absent.`.trim()
    delete field.default
  }
}

/** Description of the field, or of the schema below its default. */
function descriptionOf(field: unknown): string {
  if (!(field instanceof z.ZodType)) return ''
  const inner = field instanceof z.ZodDefault ? field.unwrap() : undefined
  return field.description ?? descriptionOf(inner)
}
