import { createRequire } from 'node:module'
import path from 'node:path'
import { Router, type RequestHandler } from 'express'
import { createOpenApi, toJson, type Endpoints } from './openapi.js'
import { createErrorsPage } from './errors.js'
import { answerHome } from './home.js'
import { guideRoutes } from './guides.js'
import { createLlmsText } from './llms.js'
import { createPostmanCollection } from './postman.js'
import { ERRORS_PAGE } from '../http/errors.js'

const require = createRequire(import.meta.url)
const swaggerUi = path.dirname(require.resolve('swagger-ui-dist/package.json'))

/** What the page needs of the package; nothing else of it is served. */
const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

/** The page speaks to this origin only. Its styles are set inline by Swagger UI. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Long enough to spare the service, short enough for a new release to show. */
const CACHE = 'public, max-age=300'

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Steward API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
  </head>
  <body>
    <div id="docs"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/init.js"></script>
  </body>
</html>
`

/** `validatorUrl: null` keeps Swagger UI from sending the document's address to a public validator. */
const SCRIPT = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  tryItOutEnabled: true,
  presets: [SwaggerUIBundle.presets.apis],
})
`

/** The document, pages to read and try it, and a short text for language models. No key is needed. */
export function docsRoutes(endpoints: Endpoints): Router {
  const router = Router()
  const document = createOpenApi(endpoints)
  router.get('/', answerHome)
  router.get('/openapi.json', answer('json', toJson(document)))
  router.get('/postman.json', answer('json', toJson(createPostmanCollection(document))))
  router.get('/llms.txt', answer('txt', createLlmsText(endpoints)))
  router.get('/docs', answer('html', PAGE))
  router.get(ERRORS_PAGE, answer('html', createErrorsPage(endpoints)))
  router.use(guideRoutes('docs', CACHE))
  router.get('/docs/init.js', answer('js', SCRIPT))
  for (const name of assets) {
    router.get(`/docs/${name}`, (_request, response, next) => {
      response.set('Cache-Control', CACHE)
      response.sendFile(name, { root: swaggerUi, cacheControl: false }, next)
    })
  }
  return router
}

function answer(type: string, text: string): RequestHandler {
  const body = Buffer.from(text)
  return (_request, response) => {
    if (type === 'html') response.set('Content-Security-Policy', PAGE_POLICY)
    response.set('Cache-Control', CACHE).type(type).send(body)
  }
}
