import express, { type Request, type Response } from 'express'
import { z } from 'zod'
import { ServiceError } from '../../domain/errors.js'

export type Schema = z.ZodType

/** The input of an endpoint that takes none of a kind. */
export const noParams = z.object({})
export const noQuery = z.strictObject({})
/** Absent or an empty object. */
export const noBody = z.strictObject({}).default({})

/** What an endpoint takes: the segments of its path, its query and its body. */
export type InputSpec<Params extends Schema, Query extends Schema, Body extends Schema> = {
  params: Params
  query: Query
  body: Body
}

/** Reads the body into the request, where `parseInput` finds it. */
export async function readJson(
  { body }: Pick<InputSpec<Schema, Schema, Schema>, 'body'>,
  request: Request,
  response: Response,
): Promise<void> {
  if (body === noBody && !hasBody(request)) return
  if (!request.is('application/json')) {
    const message = 'Send the body as `Content-Type: application/json`.'
    throw new ServiceError('INVALID_REQUEST', message, { issues: [{ path: '', message }] })
  }
  await new Promise<void>((resolve, reject) => {
    parseJson(request, response, (error?: Error) => {
      if (error === undefined) resolve()
      // The error handler knows the parser's errors by their type, whatever their class.
      else reject(error)
    })
  })
}

const parseJson = express.json({ limit: '16kb' })

const hasBody = (request: Request) =>
  request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0

/** @throws {ServiceError} INVALID_REQUEST with an issue for each thing that is wrong. */
export function parseInput<Params extends Schema, Query extends Schema, Body extends Schema>(
  { params, query, body }: InputSpec<Params, Query, Body>,
  request: Request,
) {
  return {
    params: parse(params, request.params),
    query: parse(query, request.query),
    body: parse(body, request.body),
  }
}

function parse<S extends Schema>(schema: S, value: unknown): z.infer<S> {
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
