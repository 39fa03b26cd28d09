import { Router, type Request, type Response } from 'express'
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
    router[spec.method](spec.path, async (request: Request, response: Response) => {
      const { status, body } = await handler(services, {
        account: accountOf(response),
        requestId: String(response.locals.requestId),
        params: parse(spec.params, request.params),
        body: parse(spec.body, request.body),
      })
      response.status(status).json(body)
    })
  }
}

/** The body of an endpoint that takes none. */
export const noBody = z.unknown()
export const noParams = z.unknown()

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  const [first] = issues
  const message = first?.path ? `${first.path}: ${first.message}` : (first?.message ?? 'Invalid.')
  throw new ServiceError('INVALID_REQUEST', message, { issues })
}
