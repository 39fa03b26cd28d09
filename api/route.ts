import express, { type Request, type RequestHandler, type Response, type Router } from 'express'
import { z } from 'zod'
import { accountOf } from './auth.js'
import { ServiceError } from '../domain/errors.js'
import type { Account } from '../db/accounts.js'
import type { Services } from './services.js'

export type Call<Params, Body> = {
  account: Account
  requestId: string
  params: Params
  body: Body
}
export type Answer = { status: 200 | 201; body: unknown }

type Spec<Params extends z.ZodType, Body extends z.ZodType> = {
  method: 'get' | 'post'
  path: string
  params: Params
  body: Body
}

export type Route = (services: Services, router: Router) => void

/**
 * One endpoint: what it accepts and what it does. The handler gets values that its schemas have checked.
 *
 * @throws {ServiceError} INVALID_REQUEST with `details.issues[{ path, message }]` for what they refuse.
 */
export function route<Params extends z.ZodType, Body extends z.ZodType>(
  spec: Spec<Params, Body>,
  handler: (services: Services, call: Call<z.infer<Params>, z.infer<Body>>) => Promise<Answer>,
): Route {
  return (services, router) => {
    const readBody = spec.method === 'post' ? [requireJson, express.json({ limit: '16kb' })] : []
    router[spec.method](spec.path, readBody, async (request: Request, response: Response) => {
      const { status, body } = await handler(services, {
        account: accountOf(response),
        requestId: String(response.locals.requestId),
        params: parse(spec.params, request.params),
        body: parse(spec.body, request.body),
      })
      // An answer that came too late has been given already.
      if (!response.headersSent) response.status(status).json(body)
    })
  }
}

const requireJson: RequestHandler = (request, _response, next) => {
  if (!request.is('application/json')) {
    const message = 'Send the body as `Content-Type: application/json`.'
    throw new ServiceError('INVALID_REQUEST', message, { issues: [{ path: '', message }] })
  }
  next()
}

/** The body of an endpoint that takes none. */
export const noBody = z.unknown()
export const noParams = z.unknown()

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
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
