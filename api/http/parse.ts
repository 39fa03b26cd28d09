import { ServiceError } from '../../domain/errors.js'
import type { z } from 'zod'

/**
 * Checks a part of a request.
 *
 * @throws {ServiceError} INVALID_REQUEST with an issue for each thing that is wrong.
 */
export function parse<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.flatMap(toIssues)
  const [first] = issues
  const message = first?.path ? `${first.path}: ${first.message}` : (first?.message ?? 'Invalid.')
  throw new ServiceError('INVALID_REQUEST', message, { issues })
}

/** Each field that is too much is an issue of its own, by its own path. */
function toIssues(issue: z.core.$ZodIssue): { path: string; message: string }[] {
  const path = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys.map((key) => ({
    path: [...issue.path, key].join('.'),
    message: 'is not a field of this request',
  }))
}
