import { findAccountByKey, type Account } from '../db/accounts.js'
import { ServiceError } from '../domain/errors.js'
import type { RequestHandler, Response } from 'express'
import type { Db } from '../db/connect.js'

const BEARER = /^Bearer (\S+)$/i

/**
 * Finds the account of the request's API key before anything else of the request is looked at.
 * UNAUTHORIZED alike for a missing, malformed, unknown, revoked or expired key.
 */
export function authenticate(db: Db): RequestHandler {
  return async (request, response, next) => {
    const [, key] = BEARER.exec(request.get('authorization') ?? '') ?? []
    const account = key ? await findAccountByKey(db, key) : undefined
    if (!account) {
      const message = 'The API key is missing or invalid. Send `Authorization: Bearer svc_sk_…`.'
      throw new ServiceError('UNAUTHORIZED', message)
    }
    response.locals.account = account
    next()
  }
}

export const accountOf = (response: Response): Account => response.locals.account as Account
