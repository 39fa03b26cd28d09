import { createRequire } from 'node:module'
import path from 'node:path'
import { Router } from 'express'
import { ERRORS_PAGE } from '../http/errors.js'
import { createErrorsMarkdown } from './errors.js'
import { answerHome } from './home.js'
import { createLlmsText } from './llms.js'
import { createOpenApi, toJson, type Endpoints } from './openapi.js'
import { readContents } from './pages/contents.js'
import { pageRoutes } from './pages/routes.js'
import { createPostmanCollection } from './postman.js'
import { CACHE, sendText } from './send.js'
import { SWAGGER_PAGE, SWAGGER_POLICY, SWAGGER_SCRIPT } from './swagger.js'

const require = createRequire(import.meta.url)
const swaggerUi = path.dirname(require.resolve('swagger-ui-dist/package.json'))

/** Files of the package that the page loads. No other file of it is served. */
const assets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

/** The OpenAPI document, the documentation and a short text for language models. No key is needed. */
export function docsRoutes(endpoints: Endpoints): Router {
  const router = Router()
  const document = createOpenApi(endpoints)
  const contents = readContents('docs')
  router.get('/', answerHome)
  router.get(
    '/openapi.json',
    sendText('json', () => toJson(document)),
  )
  router.get(
    '/postman.json',
    sendText('json', () => toJson(createPostmanCollection(document))),
  )
  router.get(
    '/llms.txt',
    sendText('txt', () => createLlmsText(endpoints, contents)),
  )
  router.get(
    '/docs/api',
    sendText('html', () => SWAGGER_PAGE, SWAGGER_POLICY),
  )
  router.get(
    '/docs/api.js',
    sendText('js', () => SWAGGER_SCRIPT),
  )
  for (const name of assets) {
    router.get(`/docs/${name}`, (_request, response, next) => {
      response.set('Cache-Control', CACHE)
      response.sendFile(name, { root: swaggerUi, cacheControl: false }, next)
    })
  }
  const markdown = createErrorsMarkdown(endpoints)
  const errors = { file: 'reference/errors.md', title: 'Errors', about: '', markdown }
  router.use(pageRoutes(contents, { [ERRORS_PAGE]: errors }))
  return router
}
