import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Router } from 'express'
import { ERRORS_PAGE } from '../http/errors.js'
import { createErrorsMarkdown } from './errors.js'
import { answerHome } from './home.js'
import { createLlmsText } from './llms.js'
import { readOperations } from './operations.js'
import { createOpenApi, toJson, type Endpoints } from './openapi.js'
import { readContents } from './pages/contents.js'
import { pageRoutes } from './pages/routes.js'
import { toSection } from './pages/search.js'
import { createPostmanCollection } from './postman.js'
import { CACHE, sendText } from './send.js'
import { SWAGGER_PAGE, SWAGGER_POLICY } from './swagger.js'

const require = createRequire(import.meta.url)
const swaggerUi = path.dirname(require.resolve('swagger-ui-dist/package.json'))

/** What pages load, by folder. No other file of the package is served. */
const assets = {
  [swaggerUi]: ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'],
  [fileURLToPath(new URL('browser', import.meta.url))]: [
    ...['pages.css', 'theme.js', 'search.js', 'code.js', 'key.js', 'api.js'],
  ],
}

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
  for (const [root, names] of Object.entries(assets)) {
    for (const name of names) {
      router.get(`/docs/${name}`, (_request, response, next) => {
        response.set('Cache-Control', CACHE)
        response.sendFile(name, { root, cacheControl: false }, next)
      })
    }
  }
  const markdown = createErrorsMarkdown(endpoints)
  const errors = { file: 'reference/errors.md', title: 'Errors', about: '', markdown }
  const operations = readOperations(document).map(toSection)
  router.use(pageRoutes(contents, { [ERRORS_PAGE]: errors }, operations))
  return router
}
