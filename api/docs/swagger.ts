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

export const SWAGGER_PAGE = `<!doctype html>
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
    <script src="/docs/api.js"></script>
  </body>
</html>
`

/** `validatorUrl: null` keeps Swagger UI from sending the document's address to a public validator. */
export const SWAGGER_SCRIPT = `window.ui = SwaggerUIBundle({
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
