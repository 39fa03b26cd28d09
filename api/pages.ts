import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Request, RequestHandler, Response } from 'express'
import { unbuiltPage } from './docs/home.js'
import { answerNotFound } from './http/errors.js'

/** Everything comes from this origin. Styles are files too: what scripts set on elements needs no leave. */
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

/** The name of an asset is its content's: it never changes. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
/** Kept, and asked for each time whether it is still good. */
const ASK_AGAIN = 'no-cache'

/** A file of the build: nothing of another folder, no hidden one. */
const fileName = /^\w[\w-]*(\.[\w-]+)+$/

/** Made by the build beside each text, the smaller one first. */
const encodings = { br: '.br', gzip: '.gz' } as const

/**
 * The dashboard as a browser asks for it, before the API's paths of the same names: `GET /dashboard/credits`
 * with a key, or for JSON, stays the endpoint.
 *
 * @param folder - What the workspace `web` was built to; it may come later, or never.
 */
export function servePages(folder: string): RequestHandler {
  // No routes: those would answer OPTIONS, and refuse paths that cannot be decoded, in the API's place.
  return (request, response, next) => {
    const { method, path: asked } = request
    if (method !== 'GET' && method !== 'HEAD') next()
    else if (asked === '/') serveRoot(request, response, next)
    else if (!isBelow(asked, '/dashboard')) next()
    else {
      const name = asked.slice('/dashboard/'.length)
      if (isBelow(name, 'assets')) serveAsset(folder, name)(request, response, next)
      else servePage(folder, name)(request, response, next)
    }
  }
}

const isBelow = (asked: string, parent: string) =>
  asked === parent || asked.startsWith(`${parent}/`)

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
      sendFile({ request, response, folder, file: name, cache: ASK_AGAIN })
      return
    }
    response.vary('Accept')
    if (wantsPage(request)) sendPage(request, response, folder)
    else next()
  }

/** A browser says so; a program that takes anything gets what the document names. */
function wantsPage(request: Request): boolean {
  return !request.headers.authorization && request.accepts(['json', 'html']) === 'html'
}

const isFile = (folder: string, name: string, file: string) =>
  fileName.test(name) && existsSync(path.join(folder, file))

function sendPage(request: Request, response: Response, folder: string): void {
  response.set('Content-Security-Policy', PAGE_POLICY)
  const file = 'index.html'
  if (existsSync(path.join(folder, file))) {
    sendFile({ request, response, folder, file, cache: ASK_AGAIN })
    return
  }
  response.removeHeader('Content-Security-Policy')
  response.status(503).set('Cache-Control', 'no-store').type('html').send(unbuiltPage)
}

type Sending = {
  request: Request
  response: Response
  folder: string
  /** Relative to the folder. */
  file: string
  cache: string
}

function sendFile({ request, response, folder, file, cache }: Sending): void {
  response.locals.base = '/dashboard'
  const encoding = encodingOf(request, path.join(folder, file))
  response.set('Cache-Control', cache).vary('Accept-Encoding').type(path.extname(file))
  if (encoding) response.set('Content-Encoding', encoding)
  const stored = encoding ? file + encodings[encoding] : file
  response.sendFile(stored, { root: path.resolve(folder), cacheControl: false }, (error) => {
    // Gone since it was seen: a build has replaced the folder.
    if (error && !response.headersSent) response.status(404).end()
  })
}

/** How the file may be sent packed, if it was packed. */
function encodingOf(request: Request, file: string): keyof typeof encodings | undefined {
  const known = (['br', 'gzip'] as const).filter((name) => existsSync(file + encodings[name]))
  if (known.length === 0) return undefined
  const accepted = request.acceptsEncodings([...known, 'identity'])
  return known.find((name) => name === accepted)
}
