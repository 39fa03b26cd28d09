/** A page in the style of the documentation. `body` is HTML, the title plain text without markup. */
export const htmlPage = (title: string, body: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <link rel="stylesheet" href="/docs/pages.css" />
  </head>
  <body>
${body}
  </body>
</html>
`
