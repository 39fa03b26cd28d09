import { htmlPage } from './html.js'
import type { RequestHandler } from 'express'

/** Where a reader of this deployment goes on. */
const home = {
  name: 'Steward',
  docs: '/docs',
  openapi: '/openapi.json',
  llms: '/llms.txt',
  errors: '/docs/errors',
  health: '/healthz',
}

const links: [path: string, text: string][] = [
  [home.docs, 'API documentation, to read and to try'],
  [home.errors, 'Errors: what each means and what to do about it'],
  [home.openapi, 'OpenAPI 3.1 document'],
  [home.llms, 'Short description for language models'],
  [home.health, 'Health of this process'],
]

export const homePage = htmlPage(
  home.name,
  `<h1>${home.name}</h1>
<p>Wallet, yield and DeFi intent service.</p>
<ul>${links.map(([path, text]) => `<li><a href="${path}">${path}</a>: ${text}</li>`).join('')}</ul>`,
)

/** The root of the deployment: JSON, or a page for whoever asks for HTML, such as a browser. */
export const answerHome: RequestHandler = (request, response, next) => {
  response.vary('Accept')
  if (request.accepts(['json', 'html']) === 'html') next()
  else response.json(home)
}
