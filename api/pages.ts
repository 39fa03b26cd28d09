import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Request, RequestHandler, Response } from 'express'
import { unbuiltPage } from './docs/home.js'
import { answerNotFound } from './http/errors.js'

/** All resources come from this origin. Styles that scripts set on elements need no permission. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** For assets: the file name holds a hash of the content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
/** Cached, and revalidated for each request. */
const REVALIDATE = 'no-cache'

/** A file name of the build: no other folder, no hidden file. */
const fileName = /^\w[\w-]*(\.[\w-]+)+$/

/** The build writes these files next to each text file. The smaller encoding is first. */
const encodings = { br: '.br', gzip: '.gz' } as const

/**
 * Serves the dashboard to browsers, ahead of API paths of the same name: `GET /dashboard/credits` with a key, or
 * for JSON, still reaches the endpoint.
 *
 * @param folder - Build output of the dashboard. It may be missing, or appear later.
 */
export function servePages(folder: string): RequestHandler {
  // Not a router: that would respond to OPTIONS and to undecodable paths in place of the API.
  return (request, response, next) => {
    const { method, path: requested } = request
    if (method !== 'GET' && method !== 'HEAD') next()
    else if (requested === '/') serveRoot(request, response, next)
    else if (!isBelow(requested, '/dashboard')) next()
    else {
      const name = requested.slice('/dashboard/'.length)
      if (isBelow(name, 'assets')) serveAsset(folder, name)(request, response, next)
      else servePage(folder, name)(request, response, next)
    }
  }
}

const isBelow = (child: string, parent: string) =>
  child === parent || child.startsWith(`${parent}/`)

const serveRoot: RequestHandler = (request, response, next) => {
  response.vary('Accept')
  if (wantsPage(request)) response.redirect('/dashboard')
  else next()
}

const serveAsset =
  (folder: string, file: string): RequestHandler =>
  (request, response, next) => {
    if (!isFile(folder, file.slice('assets/'.length), file)) answerNotFound(request, response, next)
    else sendFile({ request, response, folder, file, cache: IMMUTABLE })
  }

const servePage =
  (folder: string, name: string): RequestHandler =>
  (request, response, next) => {
    if (isFile(folder, name, name)) {
      sendFile({ request, response, folder, file: name, cache: REVALIDATE })
      return
    }
    response.vary('Accept')
    if (wantsPage(request)) sendPage(request, response, folder)
    else next()
  }

/** True when the request prefers HTML. A program that accepts any type gets JSON. */
function wantsPage(request: Request): boolean {
  return !request.headers.authorization && request.accepts(['json', 'html']) === 'html'
}

const isFile = (folder: string, name: string, file: string) =>
  fileName.test(name) && existsSync(path.join(folder, file))

function sendPage(request: Request, response: Response, folder: string): void {
  response.set('Content-Security-Policy', PAGE_POLICY)
  const file = 'index.html'
  if (existsSync(path.join(folder, file))) {
    sendFile({ request, response, folder, file, cache: REVALIDATE })
    return
  }
  response.removeHeader('Content-Security-Policy')
  response.status(503).set('Cache-Control', 'no-store').type('html').send(unbuiltPage)
}

type FileResponse = {
  request: Request
  response: Response
  folder: string
  /** Relative to the folder. */
  file: string
  cache: string
}

function sendFile({ request, response, folder, file, cache }: FileResponse): void {
  response.locals.base = '/dashboard'
  const encoding = encodingOf(request, path.join(folder, file))
  response.set('Cache-Control', cache).vary('Accept-Encoding').type(path.extname(file))
  if (encoding) response.set('Content-Encoding', encoding)
  const stored = encoding ? file + encodings[encoding] : file
  response.sendFile(stored, { root: path.resolve(folder), cacheControl: false }, (error) => {
    // A build may replace the folder after the check above.
    if (error && !response.headersSent) response.status(404).end()
  })
}

/** The compressed variant to send, undefined when the client accepts none or the build has none. */
function encodingOf(request: Request, file: string): keyof typeof encodings | undefined {
  const known = (['br', 'gzip'] as const).filter((name) => existsSync(file + encodings[name]))
  if (known.length === 0) return undefined
  const accepted = request.acceptsEncodings([...known, 'identity'])
  return known.find((name) => name === accepted)
}
