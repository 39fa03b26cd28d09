import { IncomingMessage, ServerResponse } from 'node:http'
import express, { type Express } from 'express'

/**
 * Options of a server for an app: its requests and responses have the methods of Express from the start. Express gives
 * each of them another prototype otherwise, and from then on the engine takes every access to them the slow way, which
 * costs as much as all that the API does with a read.
 *
 * @see https://expressjs.com/en/guide/overriding-express-api.html
 */
export function withPrototypesOf(app: Express) {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse<AppRequest> {}
  const own = { app: { value: app, enumerable: true, configurable: true, writable: true } }
  const lend = (prototype: object, methods: object) =>
    Object.defineProperties(prototype, { ...Object.getOwnPropertyDescriptors(methods), ...own })
  Object.assign(app, {
    request: lend(AppRequest.prototype, express.request),
    response: lend(AppResponse.prototype, express.response),
  })
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse }
}
