let { key } = JSON.parse(sessionStorage.getItem('docs-key') ?? '{}')

// `validatorUrl: null` keeps Swagger UI from sending the document's address to a public validator.
const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#main',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  tryItOutEnabled: true,
  presets: [SwaggerUIBundle.presets.apis],
  onComplete: authorize,
})

addEventListener('docs-key', ({ detail }) => {
  if (key && !detail) location.reload()
  key = detail
  authorize()
})

function authorize() {
  if (key) ui.preauthorizeApiKey('apiKey', key)
}

// Swagger UI reads the operation of the address once.
addEventListener('hashchange', () => {
  if (location.hash) location.reload()
})
