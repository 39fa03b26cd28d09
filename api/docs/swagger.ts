import { headerOf, htmlPage } from './html.js'

/** The page connects to this origin only. Swagger UI sets styles inline. */
export const SWAGGER_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const SWAGGER_PAGE = htmlPage(
  'API · Steward',
  `${headerOf('/docs/api')}
<div id="main"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/api.js" type="module"></script>`,
  `
    <link rel="stylesheet" href="/docs/swagger-ui.css" />`,
)
