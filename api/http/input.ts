import { z } from 'zod'
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
