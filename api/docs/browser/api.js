// `validatorUrl: null` keeps Swagger UI from sending the document's address to a public validator.
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#main',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false,
  persistAuthorization: false,
  tryItOutEnabled: true,
  presets: [SwaggerUIBundle.presets.apis],
})

// Swagger UI reads the operation of the address once.
addEventListener('hashchange', () => {
  if (location.hash) location.reload()
})
