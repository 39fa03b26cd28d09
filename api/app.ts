import express, {
  Router,
  type ErrorRequestHandler,
  type Express,
  type RequestHandler,
} from 'express'
import helmet from 'helmet'
import { newId } from '../db/ids.js'
import { ServiceError } from '../domain/errors.js'
import { admitRequest, wasJudged, type Tariff } from './admission.js'
import { docsRoutes } from './docs.js'
import { answerNotFound, handleErrors } from './errors.js'
import { answerAlive, answerReady } from './health.js'
import { endpoints } from './routes.js'
import type { Log } from '../log.js'
import type { Services } from './services.js'

/** Above the limits of the database's own waits; a server that is frozen never answers. */
const ANSWER_MS = 12_000

/** The API in the order in which a request passes through it. */
export function createApp(services: Services): Express {
  const app = express()
  const answerError = handleErrors(services.log)
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(helmet())
  app.use(nameRequest(services.log), answerInTime(answerError))
  app.get('/healthz', answerAlive)
  app.get('/readyz', answerReady(services))
  app.use(docsRoutes(endpoints))
  app.use('/v1', versionOne(services))
  app.use(beside(services))
  app.use(answerNotFound)
  app.use(answerError)
  return app
}

/** What no endpoint answers is admitted all the same: a caller without a key learns nothing of the paths. */
const anyPath: Tariff = { name: 'unknown', credits: 0, scope: 'read' }

function versionOne(services: Services): Router {
  const router = Router()
  router.use(nameBase)
  for (const route of endpoints.versioned) route.mount(services, router)
  router.use(async (request, response, next) => {
    await admitRequest(services, anyPath, request, response)
    answerNotFound(request, response, next)
  })
  router.use(admitUnread(services))
  return router
}

/** Endpoints whose path has no version. */
function beside(services: Services): Router {
  const router = Router()
  for (const route of endpoints.unversioned) route.mount(services, router)
  return router
}

/** A path that Express cannot decode never reaches a route: it is admitted like any other first. */
function admitUnread(services: Services): ErrorRequestHandler {
  return async (error, request, response, next) => {
    if (!wasJudged(response)) await admitRequest(services, anyPath, request, response)
    next(error)
  }
}

/** Gives each request an id of our own and writes one line when it is answered. */
function nameRequest(log: Log): RequestHandler {
  return (request, response, next) => {
    const requestId = newId('req_')
    const started = performance.now()
    response.locals.requestId = requestId
    response.set('X-Request-Id', requestId)
    response.on('finish', () => {
      const { method } = request
      // The pattern, not the URL: a caller's identifiers do not belong in a log.
      const { path = '' } = (request.route ?? {}) as { path?: string }
      const ms = Math.round(performance.now() - started)
      const { base = '' } = response.locals as { base?: string }
      const facts = { requestId, method, path: base + path, status: response.statusCode, ms }
      log.info(facts, 'request')
    })
    next()
  }
}

/**
 * Nobody waits without end for a part of the service that hangs. What was begun may still be done, or fail: its
 * error then takes the usual way. Express knows that way once per request, so that it is not taken here.
 */
const answerInTime =
  (answerError: ErrorRequestHandler): RequestHandler =>
  (request, response, next) => {
    const timer = setTimeout(() => {
      const late = new ServiceError('UNAVAILABLE', 'The service did not answer in time. Try again.')
      void answerError(late, request, response, () => undefined)
    }, ANSWER_MS)
    response.on('close', () => {
      clearTimeout(timer)
    })
    next()
  }

/** For the log: Express has forgotten it when an error is answered. */
const nameBase: RequestHandler = (request, response, next) => {
  response.locals.base = request.baseUrl
  next()
}
