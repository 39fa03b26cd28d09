import { z } from 'zod'
import { invalidFields, type RequestIssue } from '../../domain/errors.js'
import { nearestName } from './nearest.js'

/**
 * Validates a part of a request.
 *
 * @throws {ServiceError} INVALID_REQUEST with one sentence for each unknown, missing or invalid field.
 */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  // Custom messages make zod five times as slow, so they are only used for invalid input.
  const usual = schema.safeParse(value)
  if (usual.success) return usual.data
  const parsed = schema.safeParse(value, { error: ruleOf })
  if (parsed.success) return parsed.data
  const names = compareNames(schema, value)
  const missing = new Set(names.missing.map(({ path }) => path))
  const wrong = parsed.error.issues
    .filter(({ code, path }) => code !== 'unrecognized_keys' && !missing.has(path.join('.')))
    .map(({ path, message }) => toIssue(path.join('.'), message))
  throw invalidFields([...names.unknown, ...names.missing, ...wrong])
}

const toIssue = (path: string, rule: string): RequestIssue => ({
  path,
  message: `${path || 'The body'} ${rule}.`,
})

/** Unknown and missing fields of an object. */
function compareNames(
  schema: z.ZodType,
  value: unknown,
): Record<'unknown' | 'missing', RequestIssue[]> {
  const shapes = shapesOf(schema, value)
  if (!isObject(value)) return { unknown: [], missing: [] }
  const known = new Set(shapes.flatMap((shape) => Object.keys(shape)))
  const given = new Set(Object.keys(value).filter((name) => value[name] !== undefined))
  const open = [...known].filter((name) => !given.has(name))
  const isNeeded = (name: string) =>
    shapes.every((shape) => shape[name] && !shape[name].safeParse(undefined).success)
  return {
    unknown: [...given].filter((name) => !known.has(name)).map((name) => toUnknown(name, open)),
    missing: open.filter(isNeeded).map((name) => toIssue(name, 'is required')),
  }
}

function toUnknown(name: string, open: string[]): RequestIssue {
  const meant = nearestName(name, open)
  const { path, message } = toIssue(name, 'is not a field of this request')
  return { path, message: meant ? `${message} Did you mean ${meant}?` : message }
}

type Shape = Record<string, z.ZodType>

/** Fields of an object schema. For a union: of the matching kind, or of each kind when none matches. */
function shapesOf(schema: z.ZodType, value: unknown): Shape[] {
  if (schema instanceof z.ZodDefault) return shapesOf(schema.unwrap() as z.ZodType, value)
  if (schema instanceof z.ZodObject) return [schema.shape]
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return []
  const options = schema.options as z.ZodObject[]
  const shapes = options.map(({ shape }): Shape => shape)
  const { discriminator } = schema.def
  const kind = isObject(value) ? value[discriminator] : undefined
  const chosen = shapes.filter((shape) => shape[discriminator]?.safeParse(kind).success)
  return chosen.length > 0 ? chosen : shapes
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Default rule for schemas without a message of their own: the end of a sentence. */
function ruleOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nameOf(issue.expected, issue.input)}`
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty'
      return `must be at least ${issue.minimum}`
    case 'too_big':
      return `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters long' : ''}`
    case 'invalid_value':
      return `must be ${issue.values.map((one) => `\`${String(one)}\``).join(' or ')}`
    default:
      return 'is not valid'
  }
}

function nameOf(expected: string, input: unknown): string {
  switch (expected) {
    case 'string':
      return Array.isArray(input) ? 'one text, not several' : 'text'
    case 'number':
      return 'a number'
    case 'int':
      return 'a whole number'
    default:
      return 'a JSON object'
  }
}
