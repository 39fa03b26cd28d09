import express, {
  Router,
  type ErrorRequestHandler,
  type Express,
  type RequestHandler,
} from 'express'
import helmet from 'helmet'
import { newId } from '../db/client/ids.js'
import { ServiceError } from '../domain/errors.js'
import { apiKey } from './http/auth/apiKey.js'
import { clearDeadline, setDeadline } from './http/deadline.js'
import {
  authenticate,
  toRequestContext,
  wasAuthenticated,
  type AuthScheme,
  type Purpose,
} from './http/auth/authScheme.js'
import { docsRoutes } from './docs/routes.js'
import { answerNotFound, handleErrors, methodNotAllowed } from './http/errors.js'
import { onlySameOrigin } from './http/auth/origin.js'
import { session } from './http/auth/session.js'
import { answerAlive } from './endpoints/service/answerAlive.js'
import { answerReady } from './endpoints/service/answerReady.js'
import { serveMcp } from './mcp/serve.js'
import { servePages } from './pages.js'
import { keepRequest, patternOf } from './http/requestLog.js'
import { dashboard, endpoints } from './routes.js'
import type { DashboardRoute } from './http/auth/memberRoute.js'
import type { Route } from './http/route.js'
import type { Services } from './http/services.js'

/** The Express app. Middleware is in the order in which a request passes it. */
export function createApp(services: Services): Express {
  const app = express()
  const answerError = handleErrors(services.log)
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(helmet())
  app.use(openRequest(services, answerError))
  // First: most requests go there, and Express tests routes in order.
  app.use('/v1', versionOne(services))
  app.get('/healthz', answerAlive)
  app.get('/readyz', answerReady(services))
  app.use('/dashboard/api', dashboardApi(services))
  app.use(servePages(services.dashboardFolder ?? 'clients/dashboard/dist'))
  app.use(docsRoutes(endpoints))
  app.use(serveMcp(services, endpoints))
  app.use(unversioned(services))
  app.use(answerNotFound)
  app.use(answerError)
  return app
}

/** Unknown paths are authenticated too: without a valid key they are not distinguishable from endpoints. */
const anyPath: Purpose = { route: 'unknown', scope: 'read' }
const anyKey = apiKey({ credits: 0 })
const anySession = session({ credits: 0 })

function versionOne(services: Services): Router {
  const router = Router()
  router.use(nameBase)
  for (const route of endpoints.versioned) route.mount(services, router)
  refuseOtherMethods(services, router, { routes: endpoints.versioned, scheme: anyKey })
  router.use(authenticateUnknownPath(services, anyKey))
  router.use(authenticateUndecodablePath(services, anyKey))
  return router
}

/** Endpoints whose path has no version. */
function unversioned(services: Services): Router {
  const router = Router()
  for (const route of endpoints.unversioned) route.mount(services, router)
  refuseOtherMethods(services, router, { routes: endpoints.unversioned, scheme: anyKey })
  router.use('/dashboard', authenticateUnknownPath(services, anyKey))
  return router
}

/** Endpoints for the pages of the dashboard: its own, and all of the above authenticated by a session. */
function dashboardApi(services: Services): Router {
  const router = Router()
  router.use(nameBase)
  router.use(onlySameOrigin(services.dashboard.publicUrl))
  const routes = [...endpoints.versioned, ...endpoints.unversioned].map(bySession)
  const all = [...dashboard, ...routes]
  for (const route of all) route.mount(services, router)
  refuseOtherMethods(services, router, { routes: all, scheme: anySession })
  router.use(authenticateUnknownPath(services, anySession))
  router.use(authenticateUndecodablePath(services, anySession))
  return router
}

/** The same endpoint for members. Reads are free. Writes cost the same as with a key. */
function bySession(route: Route): DashboardRoute {
  const { method, spec } = route
  const path = spec.path.replace(/^\/dashboard/, '')
  const scheme = session({ credits: method === 'get' ? 0 : spec.caller.credits })
  return {
    ...{ method, spec: { path } },
    mount: (services, router) => {
      route.mount(services, router, { scheme, path })
    },
  }
}

type Mounted = { routes: readonly DashboardRoute[]; scheme: AuthScheme }

/** Responds with 405 to methods that these paths do not support. */
function refuseOtherMethods(services: Services, router: Router, { routes, scheme }: Mounted): void {
  for (const path of new Set(routes.map(({ spec }) => spec.path))) {
    const own = routes.filter(({ spec }) => spec.path === path)
    const allow = own.map(({ method }) => method.toUpperCase()).sort()
    const actions = routes.filter((route) => isActionOf(path, route)).map(({ spec }) => spec.path)
    router.all(path, async (request, response) => {
      await authenticate(scheme, toRequestContext(services, response, anyPath))
      throw methodNotAllowed(request, { allow, actions })
    })
  }
}

/** An action is a POST one literal segment below its resource. */
const isActionOf = (path: string, { method, spec }: DashboardRoute) =>
  method === 'post' &&
  spec.path.startsWith(`${path}/`) &&
  /^[a-z-]+$/.test(spec.path.slice(path.length + 1))

function authenticateUnknownPath(services: Services, scheme: AuthScheme): RequestHandler {
  return async (request, response, next) => {
    await authenticate(scheme, toRequestContext(services, response, anyPath))
    answerNotFound(request, response, next)
  }
}

/** A path that Express cannot decode never reaches a route. It is authenticated like all others. */
function authenticateUndecodablePath(services: Services, scheme: AuthScheme): ErrorRequestHandler {
  return async (error, _request, response, next) => {
    if (!wasAuthenticated(response))
      await authenticate(scheme, toRequestContext(services, response, anyPath))
    next(error)
  }
}

/** Assigns a request id, limits the time to respond, and logs one line when the request is finished. */
function openRequest(
  { log, requestLog, answerMs }: Services,
  answerError: ErrorRequestHandler,
): RequestHandler {
  return (request, response, next) => {
    const requestId = newId('req_')
    const at = new Date()
    const started = performance.now()
    response.locals.requestId = requestId
    response.setHeader('X-Request-Id', requestId)
    // Responses hold balances and secrets. Pages and the document set their own value.
    response.setHeader('Cache-Control', 'no-store')
    // The handler may still fail after this response. Express calls its error handler only once per request, so it is
    // called directly here.
    const answerLate = () => {
      const late = new ServiceError('UNAVAILABLE', 'The service did not answer in time. Try again.')
      void answerError(late, request, response, () => undefined)
    }
    setDeadline(response, answerLate, answerMs)
    response.on('close', () => {
      clearDeadline(response)
      const ms = Math.round(performance.now() - started)
      if (requestLog) keepRequest(requestLog, response, { requestId, at, ms })
      if (!response.writableFinished) return
      const { method } = request
      const facts = {
        requestId,
        method,
        path: patternOf(response),
        status: response.statusCode,
        ms,
      }
      log.info(facts, 'request')
    })
    next()
  }
}

/** For the log: Express resets `baseUrl` before the error handlers run. */
const nameBase: RequestHandler = (request, response, next) => {
  response.locals.base = request.baseUrl
  next()
}
