import express, { type Request, type Response } from 'express'
import { z } from 'zod'
import { invalidRequest } from '../../domain/errors.js'
import { parse } from './parse.js'

export type Schema = z.ZodType

/** For endpoints without path parameters, query or body. */
export const noParams = z.object({})
export const noQuery = z.strictObject({})
/** Absent or an empty object. */
export const emptyBody = z.strictObject({}).default({})

/** Schemas of an endpoint's path parameters, query and body. */
export type InputSpec<Params extends Schema, Query extends Schema, Body extends Schema> = {
  params: Params
  query: Query
  body: Body
}

/** Unvalidated input of a call: an Express request, or the arguments of a tool. */
export type Given = Record<'params' | 'query' | 'body', unknown>

/** Reads the body into the request, where `parseInput` finds it. */
export async function readJson(
  { body }: { body: Schema },
  request: Request,
  response: Response,
): Promise<void> {
  if (body === emptyBody && !hasBody(request)) return
  if (!request.is('application/json')) {
    throw invalidRequest('', 'Send the body as `Content-Type: application/json`.')
  }
  await new Promise<void>((resolve, reject) => {
    parseJson(request, response, (error?: Error) => {
      if (error === undefined) resolve()
      // The error handler recognizes the parser's errors by their `type`.
      else reject(error)
    })
  })
}

const parseJson = express.json({ limit: '16kb' })

const hasBody = (request: Request) =>
  request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0

/**
 * @param known - Path parameters that are already validated.
 * @throws {ServiceError} INVALID_REQUEST as `parse` does.
 */
export function parseInput<Params extends Schema, Query extends Schema, Body extends Schema>(
  { params, query, body }: InputSpec<Params, Query, Body>,
  given: Given,
  known?: z.infer<Params>,
) {
  return {
    params: known ?? parse(params, given.params),
    query: parse(query, given.query),
    body: parse(body, given.body),
  }
}
