import { htmlPage } from './html.js'
import type { RequestHandler } from 'express'

/** Where a reader of this deployment goes on. */
const home = {
  name: 'Steward',
  quickstart: '/docs/quickstart',
  docs: '/docs',
  api: '/docs/api',
  openapi: '/openapi.json',
  postman: '/postman.json',
  llms: '/llms.txt',
  errors: '/docs/errors',
  health: '/healthz',
}

const links: [path: string, text: string][] = [
  [home.quickstart, 'From a clone to a completed intent'],
  [home.docs, 'Documentation'],
  [home.api, 'API documentation with requests to try'],
  [home.errors, 'Errors: what each means and what to do about it'],
  [home.openapi, 'OpenAPI 3.1 document'],
  [home.postman, 'The same as a Postman collection'],
  [home.llms, 'Short description for language models'],
  [home.health, 'Health of this process'],
]

/** Replaces the dashboard until it is built. Names the build command and links the other pages. */
export const unbuiltPage = htmlPage(
  home.name,
  `<main class="page"><h1>${home.name}</h1>
<p>The dashboard is not built. Build it with <code>npm run build:web</code>, then load this page again.</p>
<ul>${links.map(([path, text]) => `<li><a href="${path}">${path}</a>: ${text}</li>`).join('')}</ul></main>`,
)

/** The root of the deployment for a program; a browser was led to the dashboard. */
export const answerHome: RequestHandler = (_request, response) => {
  response.json(home)
}
