import express, { type Request, type Response } from 'express'
import { invalidRequest } from '../../../domain/errors.js'
import type { Schema } from '../input.js'
import { parseJson } from './parseJson.js'

/**
 * Reads the body into the request, where `parseInput` finds it.
 *
 * @throws {ServiceError} INVALID_REQUEST as `parseJson` does, for another content type, or without a body.
 */
export async function readJson(
  { body }: { body: Schema },
  request: Request,
  response: Response,
): Promise<void> {
  const isOptional = body.safeParse(undefined).success
  if (!hasBody(request)) {
    if (isOptional) return
    throw emptyBody()
  }
  if (!request.is('application/json')) {
    throw invalidRequest('', 'Send the body as `Content-Type: application/json`.')
  }
  if (!isUtf8(request)) throw invalidRequest('', 'The body must be UTF-8.')
  await new Promise<void>((resolve, reject) => {
    readBytes(request, response, (error?: Error) => {
      if (error === undefined) resolve()
      // The error handler recognizes the parser's errors by their `type`.
      else reject(error)
    })
  })
  const bytes: unknown = request.body
  const isEmpty = !(bytes instanceof Uint8Array) || bytes.length === 0
  if (isEmpty && !isOptional) throw emptyBody()
  request.body = isEmpty ? undefined : parseJson(bytes)
}

const emptyBody = () => invalidRequest('', 'The body is empty. Send a JSON object.')

const readBytes = express.raw({ limit: '16kb', type: () => true })

const hasBody = (request: Request) =>
  request.get('transfer-encoding') !== undefined || Number(request.get('content-length') ?? 0) > 0

/** Whether the content type has no charset, or names UTF-8. */
function isUtf8(request: Request): boolean {
  const [, charset = 'utf-8'] =
    /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(request.get('content-type') ?? '') ?? []
  return /^utf-?8$/i.test(charset)
}
